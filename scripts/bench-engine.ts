/**
 * Compares the engine with what it is based on: a step with `docker run`, a tool call with a raw exec. Also runs a
 * hundred executions at once.
 *
 *   bun scripts/bench-engine.ts [--rounds 10] [--executions 100]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Run } from "../src/feature/runs/model.ts";
import { type CrashRun, layOut } from "../src/testing/crash/crash-pipeline.ts";
import { readEvents } from "../src/testing/crash/event-reader.ts";
import { dockerForTests, testImage } from "../src/testing/docker-image.ts";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "10" }, executions: { type: "string", default: "100" } },
});
const rounds = Number(values.rounds);
const printRow = (name: string, value: string) => console.log(`${name.padEnd(46)} ${value}`);
const complete = { tool: "complete", input: { outputs: {}, summary: "done" } };

function oneStep(id: string, turns: object[]): CrashRun {
  const steps = [{ id: "work", agent: "noter", input: "Work" }];
  return { id, steps, script: { version: 1, steps: { work: [...turns, { tool_calls: [complete] }] } } };
}

async function withServer(run: CrashRun, env: Record<string, string>, work: (server: TestServer) => Promise<void>) {
  const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
  const server = await startServer({ data, env: { RATE_LIMIT: "0", DEMO_SCRIPT: layOut(data, run), ...env } });
  try {
    await work(server);
  } finally {
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

const start = (server: TestServer, pipeline_id: string) =>
  server.request<Run>("POST", "/v1/runs", { body: { pipeline_id, task_description: "bench" } });

/** Times a step with one command and `docker run` of the same command, in turns; then tool calls and raw execs. */
async function besideDocker(): Promise<void> {
  const docker = await dockerForTests(process.env);
  if (!docker) return;
  const image = await testImage(docker);
  const env = { SANDBOX: "docker", AGENT_IMAGE: image, IMAGE_PULL: "false" };
  const command = { tool: "bash", input: { command: "echo done" } };
  const locked = ["--network", "none", "--cap-drop", "ALL", "--init", "--memory", "64m", "--read-only"];
  await withServer(oneStep("step", [{ tool_calls: [command] }]), env, async (server) => {
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      let began = performance.now();
      const ended = Promise.withResolvers<void>();
      let id = "";
      const reader = readEvents(server.url, 0, ({ kind, run_id }) => {
        if (kind === "run_complete" && run_id === id) ended.resolve();
      });
      id = (await start(server, "step")).body.id;
      await ended.promise;
      reader.close();
      const took = performance.now() - began;
      began = performance.now();
      const argv = ["docker", "run", "--rm", ...locked, image, "sh", "-c", "echo done"];
      if ((await Bun.spawn(argv, { stdout: "ignore" }).exited) !== 0) throw new Error("docker run failed");
      // The first round of each only warms up.
      if (round === 0) continue;
      ours.push(took);
      bare.push(performance.now() - began);
    }
    const ratio = median(ours) / median(bare);
    printRow("step of one command, POST to end", `${median(ours).toFixed(0)} ms`);
    printRow("docker run of the command", `${median(bare).toFixed(0)} ms   ratio ${ratio.toFixed(2)} (target 1.3)`);
  });
  const many = Array.from({ length: 20 }, () => ({ tool_calls: [{ tool: "bash", input: { command: "true" } }] }));
  await withServer(oneStep("calls", many), env, async (server) => {
    const ours: number[] = [];
    const bare: number[] = [];
    const ended = Promise.withResolvers<void>();
    const sandbox = Promise.withResolvers<void>();
    readEvents(server.url, 0, ({ kind, data }) => {
      if (kind === "tool_call_end" && data["tool"] === "bash") ours.push(Number(data["duration_ms"]));
      if (kind === "tool_call_start") sandbox.resolve();
      if (kind === "run_complete") ended.resolve();
    });
    const { body } = await start(server, "calls");
    await sandbox.promise;
    const [container] = await docker.containers.list([`skep.run=${body.id}`]);
    // In the same container at the same time, so that other load affects both equally.
    for (let n = 0; n < 15 && ours.length < 18; n++) {
      const began = performance.now();
      const exec = await docker.containers.exec(container!.id, { argv: ["sh", "-c", "true"], onOutput: () => {} });
      await exec.closed;
      await exec.exitCode();
      bare.push(performance.now() - began);
    }
    await ended.promise;
    const ratio = median(ours) / median(bare);
    printRow("tool call (bash)", `${median(ours).toFixed(0)} ms`);
    printRow(
      "raw exec in the same container",
      `${median(bare).toFixed(0)} ms   ratio ${ratio.toFixed(2)} (target 1.2)`,
    );
  });
}

/**
 * Runs all executions at once, with ten turns each. `/healthz` is requested throughout; its time includes the event
 * loop's lag.
 */
async function atOnce(executions: number): Promise<void> {
  const turns = Array.from({ length: 9 }, () => ({ text: "On.", tool_calls: [{ tool: "ls", input: { path: "." } }] }));
  await withServer(oneStep("many", turns), { MAX_EXECUTIONS: String(executions) }, async (server) => {
    await server.request("PUT", "/v1/settings", { body: { limits: { executions_per_agent: executions } } });
    const all = Promise.withResolvers<void>();
    let ended = 0;
    const reader = readEvents(server.url, 0, ({ kind }) => {
      if (kind === "run_complete" && ++ended === executions) all.resolve();
    });
    const began = performance.now();
    const lags: number[] = [];
    let going = true;
    const probe = (async () => {
      while (going) {
        const asked = performance.now();
        await (await fetch(`${server.url}/healthz`)).arrayBuffer();
        lags.push(performance.now() - asked);
        await Bun.sleep(10);
      }
    })();
    for (let n = 0; n < executions; n++) await start(server, "many");
    await all.promise;
    const seconds = (performance.now() - began) / 1_000;
    going = false;
    await probe;
    const ids = reader.events.map(({ id }) => id);
    const lost = ids.filter((id, at) => at > 0 && id !== ids[at - 1]! + 1).length;
    const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
    const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    printRow(`${executions} executions at once, 10 turns each`, `${seconds.toFixed(1)} s, ${ids.length} events`);
    printRow("  gaps between the ids of their events", `${lost}`);
    printRow("  most memory held (target 300 MB)", `${peak.toFixed(0)} MB`);
    printRow(
      "  answer of /healthz meanwhile, p50 and p99",
      `${median(lags).toFixed(0)} ms, ${quantile(lags, 0.99).toFixed(0)} ms (target 50)`,
    );
  });
}

console.log(`## engine (median of ${rounds}; load of the machine at the start ${loadavg()[0]!.toFixed(1)})`);
await besideDocker();
await atOnce(Number(values.executions));
process.exit(0);
