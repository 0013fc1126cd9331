/** Prometheus metrics of the process. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void;
  render(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    new Gauge({
      name: `skep_${name}`,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  };
  const processorTime = (name: string, help: string, used: () => { user: number; system: number }): void => {
    new Counter({
      name: `skep_${name}_cpu_seconds_total`,
      help,
      registers: [registry],
      collect() {
        const { user, system } = used();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    });
  };
  // The library's own collection walks the whole heap at every scrape, which takes 40 ms here.
  processorTime("process", "Processor time, user and system.", () => process.cpuUsage());
  processorTime("main_thread", "Processor time of the thread that answers requests.", () => process.threadCpuUsage());
  gauge("process_resident_memory_bytes", "Memory that the process holds.", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "When the process began, seconds since 1970.", () =>
    Math.round(Date.now() / 1_000 - process.uptime()),
  );
  gauge("eventloop_lag_seconds", "How long the event loop kept this scrape waiting.", async () => {
    const asked = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    return (performance.now() - asked) / 1_000;
  });
  const labelNames = ["method", "route", "status"] as const;
  const requests = new Counter({
    name: "skep_http_requests_total",
    help: "Requests answered.",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "skep_http_request_seconds",
    help: "Time to the answer.",
    labelNames: ["route"] as const,
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  return {
    request(method, route, status, seconds) {
      requests.inc({ method, route, status: String(status) });
      durations.observe({ route }, seconds);
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
