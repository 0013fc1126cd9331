/**
 * The start of a server: the time to the first healthy answer on a new folder, on the same folder again, and on one
 * with a year's runs, as wall and processor time. Also memory and processor time of an idle server, and the size of the
 * executable.
 *
 *   bun scripts/bench-start.ts [--times 7] [--runs 10000] [--idle 60]    runs 0: no year's folder; idle in seconds
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { skepCommand, startServer, type TestServer } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";
import { fillFolder } from "./year-folder.ts";

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "7" },
    runs: { type: "string", default: "10000" },
    idle: { type: "string", default: "60" },
  },
});
const TIMES = Number(values.times);
const RUNS = Number(values.runs);
const IDLE_SECONDS = Number(values.idle);
/** After this time, in ms, the first round of periodic work is over. */
const SETTLED_MS = 20_000;
const binary = skepCommand()[0]!;

interface Started {
  wallMs: number;
  cpuMs: number;
  /** Processor time until the first list has been answered as well. */
  withListMs: number;
}

/** Processor time of the process's current threads, in ms. */
function cpuOf(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
    return Number(text.split(" ")[0]);
  });
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Processor time of a process so far, including ended threads, in ms with a resolution of 10 ms. */
function wholeCpuOf(pid: number): number {
  // The name may contain spaces and brackets, so count the fields from the last bracket.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Starts a server on this folder and waits for the first answer of /healthz and then of /v1/runs. */
async function start(data: string): Promise<Started> {
  const began = performance.now();
  const server = await startServer({ data });
  await server.request("GET", "/healthz");
  const wallMs = performance.now() - began;
  const cpuMs = cpuOf(server.pid);
  await server.request("GET", "/v1/runs");
  const withListMs = cpuOf(server.pid);
  await server.stop();
  return { wallMs, cpuMs, withListMs };
}

async function bareProcess(): Promise<number> {
  const began = performance.now();
  await Bun.spawn([binary, "--version"], { stdout: "ignore" }).exited;
  return performance.now() - began;
}

/** Memory of an idle server, and its processor time during `IDLE_SECONDS`. */
async function measureIdle(server: TestServer): Promise<string> {
  await Bun.sleep(SETTLED_MS);
  const before = wholeCpuOf(server.pid);
  await Bun.sleep(IDLE_SECONDS * 1_000);
  const ms = wholeCpuOf(server.pid) - before;
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const readMegabytes = (name: string) =>
    (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024).toFixed(0);
  await server.stop();
  return `${readMegabytes("VmRSS")} MB, ${readMegabytes("RssAnon")} of them its own; ${(ms / IDLE_SECONDS / 10).toFixed(2)} % of a core`;
}

const printRow = (what: string, figure: string) => console.log(`${what.padEnd(34)} ${figure}`);
const ofAll = (all: readonly Started[]): string => {
  const [wall, cpu, list] = (["wallMs", "cpuMs", "withListMs"] as const).map((name) =>
    median(all.map((one) => one[name])).toFixed(0),
  );
  return `${wall} ms; processor time ${cpu} ms, with the first list ${list} ms`;
};
const folders = { used: mkdtempSync(join(tmpdir(), "skep-bench-")), year: mkdtempSync(join(tmpdir(), "skep-bench-")) };
const load = () => loadavg()[0]!.toFixed(1);

console.log(`## start (median of ${TIMES}, load ${load()})`);
try {
  if (RUNS > 0) await fillFolder(folders.year, RUNS);
  const first: Started[] = [];
  const again: Started[] = [];
  const year: Started[] = [];
  const version: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
    first.push(await start(data));
    rmSync(data, { recursive: true, force: true });
    again.push(await start(folders.used));
    if (RUNS > 0) year.push(await start(folders.year));
    version.push(await bareProcess());
  }
  printRow("executable", `${(statSync(binary).size / 1e6).toFixed(1)} MB`);
  printRow("skep --version", `${median(version).toFixed(0)} ms`);
  printRow("start to healthy, new folder", ofAll(first));
  printRow("start to healthy, same folder", ofAll(again.slice(1)));
  if (RUNS > 0) printRow(`start to healthy, ${RUNS} runs`, ofAll(year.slice(1)));
  printRow(`idle, ${IDLE_SECONDS} s`, await measureIdle(await startServer({ data: folders.used })));
  if (RUNS > 0) printRow(`idle with ${RUNS} runs`, await measureIdle(await startServer({ data: folders.year })));
  console.log(`load ${load()} at the end`);
} finally {
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
}
