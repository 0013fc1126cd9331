/**
 * The periodic work of a server with a year's data: how long each duty takes, and how long it blocks the server at
 * most. Each duty runs alone and twice: first on a year from which nothing was removed, then as usual.
 *
 *   bun scripts/bench-duties.ts [--runs 10000] [--data FOLDER]
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openHouse } from "../src/app.ts";
import { readConfig } from "../src/core/config.ts";
import { startServer } from "../src/testing/server.ts";
import { fillFolder, fillOthers } from "./year-folder.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    /** An existing data folder, which is copied. */
    data: { type: "string" },
  },
});
const DAY_MS = 86_400_000;
/** The retention used where the settings would keep rows forever. */
const OTHERWISE_DAYS = 300;
/** A duty that blocks the thread for longer than this is marked. */
const BOUND_MS = 5;

/** Running time of this thread so far, in ms. Other programs on the machine do not count. */
const ranMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** Runs the work beside a loop that measures how long it gets no turn. */
async function measure(work: () => unknown): Promise<{ tookMs: number; blockedMs: number }> {
  let [last, blockedMs, done] = [ranMs(), 0, false];
  const turn = () => {
    const now = ranMs();
    blockedMs = Math.max(blockedMs, now - last);
    last = ranMs();
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await new Promise((next) => setImmediate(next));
  blockedMs = 0;
  const began = performance.now();
  await work();
  const tookMs = performance.now() - began;
  await new Promise((next) => setImmediate(next));
  done = true;
  return { tookMs, blockedMs };
}

async function yearIn(data: string): Promise<void> {
  if (values.data !== undefined) return cpSync(values.data, data, { recursive: true });
  await fillFolder(data, Number(values.runs));
  const server = await startServer({ data, env: { RATE_LIMIT: "0" } });
  await fillOthers(server);
  await server.stop();
}

const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
console.log(`## duties (load ${loadavg()[0]!.toFixed(1)})`);
await yearIn(data);
const house = await openHouse(readConfig({ DATA: data, PORT: "0", SANDBOX: "process", LOG_LEVEL: "warn" }));
try {
  const { duties, prunes } = house.contributions;
  const settings = house.services.settings.get().retention;
  const signal = new AbortController().signal;
  const ofPrune = async (prune: (typeof prunes)[number]) => {
    const days = typeof prune.keep === "string" ? settings[prune.keep] : (prune.keep ?? 0);
    while ((await prune.run(Date.now() - (days ?? OTHERWISE_DAYS) * DAY_MS)) === true)
      await new Promise((next) => setImmediate(next));
  };
  const all = [
    ...prunes.map((prune, at) => ({ name: `prune ${at + 1} ${prune.keep ?? ""}`, run: () => ofPrune(prune) })),
    ...duties.map(({ name, run }) => ({ name, run: () => run(signal) })),
  ];
  console.log(`${"ms".padEnd(40)} first: took blocked   again: took blocked`);
  for (const { name, run } of all) {
    const [first, again] = [await measure(run), await measure(run)];
    const mark = Math.max(first.blockedMs, again.blockedMs) > BOUND_MS ? "!" : " ";
    const figures = [first.tookMs, first.blockedMs, again.tookMs, again.blockedMs];
    console.log(`${mark} ${name.padEnd(40)}${figures.map((one) => one.toFixed(1).padStart(10)).join("")}`);
  }
} finally {
  await house.stop();
  await house.close();
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);
