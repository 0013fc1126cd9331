/** Prometheus metrics of the process. Requests are counted here; the library is loaded at the first scrape. */
import type { Registry } from "prom-client";
import { memoize } from "../core/lazy.ts";
import { type Counter, createCounter, quotedLabel } from "./counter.ts";

export type Metrics = ReturnType<typeof createMetrics>;

/** Upper bounds of the buckets for request times, in seconds. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

interface Durations {
  /** Requests by bucket, then those above the last bound; each request is counted in one bucket only. */
  counts: number[];
  seconds: number;
}

export function createMetrics() {
  /** Requests answered: by route, then by method and status. */
  const answered = new Map<string, Map<string, number>>();
  const durations = new Map<string, Durations>();
  const gauges: Gauge[] = [];
  const counters: ReturnType<typeof createCounter>[] = [];
  const registry = memoize(async () => {
    const library = await import("prom-client");
    const made = new library.Registry();
    collectProcess(library, made);
    return made;
  });
  return {
    request(method: string, route: string, status: number, seconds: number): void {
      const ofRoute = getOrCreate(answered, route, () => new Map<string, number>());
      const key = `${method} ${status}`;
      ofRoute.set(key, (ofRoute.get(key) ?? 0) + 1);
      const time = getOrCreate(durations, route, () => ({
        counts: Array<number>(BUCKETS.length + 1).fill(0),
        seconds: 0,
      }));
      const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
      time.counts[bucket < 0 ? BUCKETS.length : bucket]!++;
      time.seconds += seconds;
    },
    /** Declares a gauge of a feature, named `skep_…`, read at each scrape; null: it has no value at the moment. */
    gauge: (name: string, help: string, read: () => number | null): void =>
      void gauges.push({ name: `skep_${name}`, help, read }),
    /** Declares a counter of a feature, named `skep_…`. */
    counter(name: string, help: string): Counter {
      const counter = createCounter(`skep_${name}`, help);
      counters.push(counter);
      return counter.add;
    },
    render: async (): Promise<string> =>
      [
        await (await registry()).metrics(),
        gaugesAsText(gauges),
        ...counters.map((counter) => counter.asText()),
        requestsAsText(answered, durations),
      ].join("\n"),
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

interface Gauge {
  name: string;
  help: string;
  read(): number | null;
}

function gaugesAsText(gauges: readonly Gauge[]): string {
  const lines = gauges.flatMap(({ name, help, read }) => {
    const value = read();
    return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...(value === null ? [] : [`${name} ${value}`]), ""];
  });
  return lines.join("\n");
}

/** The map's value for the key; created when missing. */
function getOrCreate<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

type Library = typeof import("prom-client");

/** Replaces the library's own process metrics, which walk the whole heap at every scrape (40 ms here). */
function collectProcess({ Counter, Gauge }: Library, registry: Registry): void {
  const addGauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    const made: InstanceType<Library["Gauge"]> = new Gauge({
      name: `skep_${name}`,
      help,
      registers: [registry],
      collect: async () => made.set(await read()),
    });
  };
  const processorTime = (name: string, help: string, readUsage: () => { user: number; system: number }): void => {
    const made: InstanceType<Library["Counter"]> = new Counter({
      name: `skep_${name}_cpu_seconds_total`,
      help,
      registers: [registry],
      collect() {
        const { user, system } = readUsage();
        made.reset();
        made.inc((user + system) / 1e6);
      },
    });
  };
  processorTime("process", "Processor time, user and system.", () => process.cpuUsage());
  processorTime("main_thread", "Processor time of the thread that answers requests.", () => process.threadCpuUsage());
  addGauge("process_resident_memory_bytes", "Memory that the process holds.", () => process.memoryUsage.rss());
  addGauge("process_start_time_seconds", "When the process began, seconds since 1970.", () =>
    Math.round(Date.now() / 1_000 - process.uptime()),
  );
  addGauge("eventloop_lag_seconds", "How long the event loop kept this scrape waiting.", async () => {
    const asked = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    return (performance.now() - asked) / 1_000;
  });
}

/** Writes about fifteen lines per route directly: the library takes 10 ms for a hundred routes. */
function requestsAsText(
  answered: ReadonlyMap<string, ReadonlyMap<string, number>>,
  durations: ReadonlyMap<string, Durations>,
): string {
  const lines = ["# HELP skep_http_requests_total Requests answered.", "# TYPE skep_http_requests_total counter"];
  for (const [route, counts] of answered)
    for (const [key, count] of counts) {
      const [method = "", status = ""] = key.split(" ");
      const labels = `method=${quotedLabel(method)},route=${quotedLabel(route)},status=${quotedLabel(status)}`;
      lines.push(`skep_http_requests_total{${labels}} ${count}`);
    }
  const name = "skep_http_request_seconds";
  lines.push("", `# HELP ${name} Time to the answer.`, `# TYPE ${name} histogram`);
  for (const [route, { counts, seconds }] of durations) {
    const label = `route=${quotedLabel(route)}`;
    let below = 0;
    for (const [at, count] of counts.entries()) {
      below += count;
      lines.push(`${name}_bucket{le="${BUCKETS[at] ?? "+Inf"}",${label}} ${below}`);
    }
    lines.push(`${name}_sum{${label}} ${seconds}`, `${name}_count{${label}} ${below}`);
  }
  return `${lines.join("\n")}\n`;
}
