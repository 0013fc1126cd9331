/** Start to first healthy answer, idle memory, size of the executable. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skepCommand, startServer } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";

const RUNS = 7;
const binary = skepCommand()[0]!;

/** Time until /healthz answers, over this folder, in ms. */
async function start(data: string): Promise<number> {
  const began = performance.now();
  const server = await startServer({ data });
  await server.request("GET", "/healthz");
  const took = performance.now() - began;
  await server.stop();
  return took;
}

async function bareProcess(): Promise<number> {
  const began = performance.now();
  await Bun.spawn([binary, "--version"], { stdout: "ignore" }).exited;
  return performance.now() - began;
}

const first: number[] = [];
const again: number[] = [];
const version: number[] = [];
for (let n = 0; n < RUNS; n++) {
  const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
  first.push(await start(data));
  again.push(await start(data));
  version.push(await bareProcess());
  rmSync(data, { recursive: true, force: true });
}
const server = await startServer();
await Bun.sleep(3_000);
const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
await server.remove();

console.log(`## start (median of ${RUNS})`);
console.log(`executable                       ${(statSync(binary).size / 1e6).toFixed(1)} MB`);
console.log(`start to healthy, new folder     ${median(first).toFixed(0)} ms`);
console.log(
  `start to healthy, same folder    ${median(again).toFixed(0)} ms  (${(median(again) / median(version)).toFixed(1)}x of skep --version, ${median(version).toFixed(0)} ms)`,
);
console.log(`resident memory, idle after 3 s  ${rss.toFixed(0)} MB`);
