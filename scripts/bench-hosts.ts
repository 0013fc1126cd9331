/**
 * Many executions on three engines, one of them over SSH. One engine is killed while work is on it. All executions must
 * end, and none twice.
 *
 *   bun scripts/bench-hosts.ts [--runs 50] [--slots 8]
 *
 * Needs root, dockerd, sshd and this machine's engine.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Host } from "../src/feature/hosts/model.ts";
import type { Run, Step } from "../src/feature/runs/model.ts";
import { type CrashRun, layOut } from "../src/testing/crash/crash-pipeline.ts";
import { readEvents } from "../src/testing/crash/event-reader.ts";
import { dockerForTests, testImage } from "../src/testing/docker-image.ts";
import { canStartEngines, startEngine } from "../src/testing/own-engine.ts";
import { startServer } from "../src/testing/server.ts";
import { hasSshd, openSshHost } from "../src/testing/ssh-host.ts";
import { median } from "./bench-figures.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "50" }, slots: { type: "string", default: "8" } },
});
const [runs, slots] = [Number(values.runs), Number(values.slots)];
const printRow = (name: string, value: string | number) => console.log(`${name.padEnd(52)} ${value}`);
const near = await dockerForTests({ ...process.env, CI: "true" });
if (!near || !hasSshd() || !canStartEngines()) {
  console.error("bench: it needs root, dockerd, sshd and a container engine of this machine");
  process.exit(2);
}

const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
const [far, doomed] = await Promise.all([startEngine(), startEngine()]);
const ssh = openSshHost();
const toReply = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });
// On the engine that will be killed, the command waits for that. Elsewhere, each command records that it ran, once.
const command = `grep -q ${doomed.mark} /proc/self/mountinfo && { echo doomed; sleep 3600; }; echo once >> made`;
const rest = "[ -e made ] || echo once >> made; echo over >> made";
const script = [
  toReply("bash", { command }),
  toReply("bash", { command: rest }),
  toReply("complete", { outputs: {}, summary: "done" }),
];
const run: CrashRun = {
  id: "spread",
  steps: [{ id: "make", agent: "noter", needs: [], input: "Make" }],
  script: { version: 1, steps: { make: script } },
};
try {
  const images = await Promise.all([near, far.docker, doomed.docker].map(testImage));
  const hosts = [`far=ssh://far${far.socket}`, `doomed=unix://${doomed.socket}`, `near=${near.address}`];
  const server = await startServer({
    data,
    env: {
      DEMO_SCRIPT: layOut(data, run),
      DOCKER_HOSTS: hosts.map((host) => `${host} slots=${slots}`).join(", "),
      SANDBOX: "docker",
      SANDBOX_WORKSPACE: "detached",
      AGENT_IMAGE: images[0]!,
      IMAGE_PULL: "false",
      MAX_EXECUTIONS: String(runs),
      RATE_LIMIT: "0",
      TMPDIR: tmpdir(),
      ...ssh.env,
    },
  });
  try {
    await server.request("PUT", "/v1/settings", { body: { limits: { executions_per_agent: runs } } });
    const doomedRuns = new Set<string>();
    const done: string[] = [];
    const full = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const reader = readEvents(server.url, 0, ({ kind, run_id, data: said }) => {
      if (kind === "agent_output" && JSON.stringify(said).includes("doomed\\n")) doomedRuns.add(run_id!);
      if (doomedRuns.size >= Math.min(slots, Math.ceil(runs / 3)) || done.length + doomedRuns.size >= runs)
        full.resolve();
      if (kind === "run_complete") done.push(run_id!);
      if (new Set(done).size >= runs) ended.resolve();
    });
    const begun = performance.now();
    const body = { pipeline_id: run.id, task_description: "bench" };
    const started = await Promise.all(
      Array.from({ length: runs }, () => server.request<Run>("POST", "/v1/runs", { body })),
    );
    const ids = started.map((answer) => answer.body.id);
    await full.promise;
    const before = (await server.request<{ items: Host[] }>("GET", "/v1/hosts")).body.items;
    const endedBefore = new Set(done).size;
    const killedAt = performance.now();
    await doomed.kill();
    await ended.promise;
    const all = performance.now();
    reader.close();

    const steps = await Promise.all(
      ids.map(async (id) => (await server.request<{ items: Step[] }>("GET", `/v1/steps/${id}`)).body.items),
    );
    const failed = steps.flat().filter(({ status }) => status !== "succeeded");
    const wrong = ids.filter((id) => readFileSync(join(data, "workspaces", id, "made"), "utf8") !== "once\nover\n");
    const times = steps.flat().map((step) => Date.parse(step.finished_at ?? "") - Date.parse(step.queued_at));
    printRow("executions that ended", `${new Set(done).size} of ${runs}`);
    printRow("of them failed", failed.length);
    printRow("work that was done twice, or not", wrong.length);
    printRow("ends that were reported twice", done.length - new Set(done).size);
    printRow("ended before the engine was killed", endedBefore);
    printRow("at work on it when it was killed", before.find(({ name }) => name === "doomed")?.used ?? 0);
    printRow("from the first to the last end", `${((all - begun) / 1_000).toFixed(1)} s`);
    printRow("from the kill to the last end", `${((all - killedAt) / 1_000).toFixed(1)} s`);
    printRow("an execution, from its queue to its end, p50", `${median(times).toFixed(0)} ms`);
    printRow("load", loadavg()[0]!.toFixed(1));
    if (failed.length > 0 || wrong.length > 0 || done.length !== runs) process.exitCode = 1;
  } finally {
    await server.stop();
  }
} finally {
  ssh.close();
  await Promise.all([far.close(), doomed.close()]);
  rmSync(data, { recursive: true, force: true });
}
