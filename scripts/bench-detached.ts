/**
 * Compares a step whose files are copied in and out (detached) with one whose files are mounted, on a workspace with
 * many files. Each step changes one file.
 *
 *   bun scripts/bench-detached.ts [--files 2000] [--steps 8] [--rounds 2]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CrashRun, layOut } from "../src/testing/crash/crash-pipeline.ts";
import { dockerForTests, testImage } from "../src/testing/docker-image.ts";
import { startServer } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";
import { timeSteps } from "./bench-steps.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "2000" },
    steps: { type: "string", default: "8" },
    rounds: { type: "string", default: "2" },
  },
});
const [files, steps, rounds] = [Number(values.files), Number(values.steps), Number(values.rounds)];
/** With many files the bound is larger, because both sides are compared file by file. */
const BOUND = files > 10_000 ? 2 : 1.3;
const printRow = (name: string, value: string) => console.log(`${name.padEnd(46)} ${value}`);
const docker = await dockerForTests({ ...process.env, CI: "true" });
if (!docker) process.exit(2);

const toBashReply = (command: string) => ({ tool_calls: [{ tool: "bash", input: { command } }] });
const complete = { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] };
const make = `for i in $(seq ${files}); do mkdir -p d$((i % 50)); head -c 2000 /dev/zero > d$((i % 50))/f$i; done`;
const names = Array.from({ length: steps + 1 }, (_, n) => `s${n}`);
const run: CrashRun = {
  id: "carried",
  steps: names.map((id, n) => ({ id, agent: "noter", needs: n === 0 ? [] : [`s${n - 1}`], input: "Work" })),
  script: {
    version: 1,
    steps: Object.fromEntries(
      names.map((id, n) => [id, [toBashReply(n === 0 ? make : `echo ${n} > d3/f3; cat d*/* | wc -c`), complete]]),
    ),
  },
};

/** @returns the time of each step except the first, and that of the first, in ms. */
async function measure(workspace: "mounted" | "detached"): Promise<{ first: number; later: number[] }> {
  const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
  const image = await testImage(docker!);
  const env = { SANDBOX: "docker", SANDBOX_WORKSPACE: workspace, AGENT_IMAGE: image, IMAGE_PULL: "false" };
  const server = await startServer({ data, env: { RATE_LIMIT: "0", DEMO_SCRIPT: layOut(data, run), ...env } });
  try {
    return await timeSteps(server, run.id);
  } finally {
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

const figures = { mounted: [] as number[], detached: [] as number[] };
for (let round = 0; round < rounds; round++)
  for (const workspace of ["mounted", "detached"] as const) {
    const { first, later } = await measure(workspace);
    figures[workspace].push(...later);
    printRow(`${workspace}: the step that makes ${files} files`, `${first.toFixed(0)} ms`);
  }
const ratio = median(figures.detached) / median(figures.mounted);
printRow("a step that changes one of them, mounted", `${median(figures.mounted).toFixed(0)} ms`);
printRow(
  "the same, carried",
  `${median(figures.detached).toFixed(0)} ms   ratio ${ratio.toFixed(2)} (target ${BOUND})`,
);
printRow("load", loadavg()[0]!.toFixed(1));
