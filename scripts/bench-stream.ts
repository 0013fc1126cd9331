/**
 * The event stream under load. Each reader follows its own run, and one in fifty follows everything, while the events
 * of all runs come at a fixed rate. The server, in a separate process, is the product's own stream on its own log. The
 * readers share another process. Some readers are cut off and reconnect.
 *
 *   bun scripts/bench-stream.ts [--readers 500] [--rate 1000] [--seconds 10]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Type as t } from "@sinclair/typebox";
import { systemClock } from "../src/core/clock.ts";
import { defineEvent } from "../src/core/events.ts";
import { RUN_ENDS, runRestarted } from "../src/feature/runs/events.ts";
import { createEventStreams } from "../src/http/event-stream.ts";
import { createBus } from "../src/store/bus.ts";
import { createEventLog } from "../src/store/event-log.ts";
import { openStore } from "../src/store/store.ts";
import { median, quantile } from "./bench-figures.ts";

const { values } = parseArgs({
  options: {
    readers: { type: "string", default: "500" },
    rate: { type: "string", default: "1000" },
    seconds: { type: "string", default: "10" },
    serve: { type: "string" },
  },
});
const [readers, rate, seconds] = [Number(values.readers), Number(values.rate), Number(values.seconds)];
const output = defineEvent("agent_output", t.Object({ text: t.String(), n: t.Integer(), t: t.Number() }), {
  delivery: "lossy",
});
/** One reader in this many follows everything. */
const ALL = 50;
/** One reader in this many is cut off twice a second and continues from its last event. */
const CUT = 10;
const runOf = (reader: number) => `run_${reader}`;
/** Fractional ms since the epoch; the same clock in both processes. */
const readClock = () => performance.timeOrigin + performance.now();

/** Serves the stream of a store in `folder`, and emits events on request. */
function serve(folder: string): void {
  const store = openStore({ path: join(folder, "skep.db"), clock: systemClock });
  const bus = createBus((error) => {
    throw error;
  });
  store.onCommit(bus.deliver);
  const streams = createEventStreams({ log: createEventLog(store), bus, runEnds: RUN_ENDS, runRestarted });
  const emit = async () => {
    const began = performance.now();
    for (let sent = 0; sent < rate * seconds; ) {
      const due = Math.min(rate * seconds, Math.floor(((performance.now() - began) / 1_000) * rate));
      for (; sent < due; sent++)
        store.write((tx) =>
          tx.emit(output, {
            run_id: runOf(sent % readers),
            data: { text: "a few words of an answer", n: Math.floor(sent / readers), t: readClock() },
          }),
        );
      await Bun.sleep(1);
    }
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      if (new URL(request.url).pathname === "/emit") {
        void emit();
        return new Response();
      }
      const after = Number(request.headers.get("last-event-id"));
      const run_id = new URL(request.url).searchParams.get("run") ?? undefined;
      return streams.open({
        filter: run_id ? { run_id } : {},
        after,
        mayRead: () => true,
        stillValid: () => true,
        userId: undefined,
      });
    },
  });
  console.log(server.port);
}

/** A reader from the first event to the last. @returns how many events were missed or received twice. */
async function read(port: number, at: number, latencies: number[], onOpen: () => void): Promise<number> {
  const everything = at % ALL === 0;
  const total = everything ? rate * seconds : Math.ceil((rate * seconds - at) / readers);
  const cut = at % CUT === 1;
  const address = `http://127.0.0.1:${port}/${everything ? "" : `?run=${runOf(at)}`}`;
  let [seen, last, faults] = [0, 0, 0];
  while (seen < total) {
    const abort = new AbortController();
    const timer = cut ? setTimeout(() => abort.abort(), 500) : undefined;
    try {
      const answer = await fetch(address, { headers: { "Last-Event-ID": String(last) }, signal: abort.signal });
      onOpen();
      let rest = "";
      for await (const chunk of answer.body!) {
        const received = readClock();
        const text = rest + Buffer.from(chunk).toString("latin1");
        const end = text.lastIndexOf("\n\n");
        rest = text.slice(end + 2);
        for (const [, id, n, t] of text
          .slice(0, end + 2)
          .matchAll(/^id: (\d+)\n.*\ndata: .*"n":(\d+),"t":([\d.]+)/gm)) {
          if (everything ? Number(id) !== last + 1 : Number(n) !== seen) faults++;
          last = Number(id);
          seen++;
          if (!cut) latencies.push(received - Number(t));
        }
        if (seen >= total) break;
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }
  return faults;
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-"));
  const load = loadavg()[0]!;
  const given = ["--readers", values.readers, "--rate", values.rate, "--seconds", values.seconds];
  const argv = [process.execPath, import.meta.path, "--serve", folder, ...given];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  try {
    const { value } = await child.stdout.getReader().read();
    const port = Number(Buffer.from(value!).toString());
    const latencies: number[] = [];
    const ready = Promise.withResolvers<void>();
    let open = 0;
    const onOpen = () => {
      if (++open === readers) ready.resolve();
    };
    const all = Array.from({ length: readers }, (_, at) => read(port, at, latencies, onOpen));
    // A reader is connected when it receives its first bytes; the comment that opens a stream counts.
    await Promise.race([ready.promise, Bun.sleep(5_000)]);
    const began = performance.now();
    await fetch(`http://127.0.0.1:${port}/emit`);
    const faults = (await Promise.all(all)).reduce((sum, one) => sum + one, 0);
    const took = (performance.now() - began) / 1_000;
    console.log(`## stream (load of the machine at the start ${load.toFixed(1)})`);
    console.log(`${readers} readers, ${rate} events/s for ${seconds} s      all read after ${took.toFixed(1)} s`);
    console.log(
      `from emit to reader, p50 and p99 (target 100)  ${median(latencies).toFixed(0)} ms, ${quantile(latencies, 0.99).toFixed(0)} ms`,
    );
    console.log(`events missed or read twice, ${Math.ceil(readers / CUT)} readers cut and resumed  ${faults}`);
  } finally {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.serve) serve(values.serve);
else {
  await measure();
  process.exit(0);
}
