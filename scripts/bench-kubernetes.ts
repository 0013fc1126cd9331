/**
 * Compares a step whose agent works in a Pod with `kubectl run` and `kubectl exec` of the same command in the same
 * image, in turns. It needs a cluster: scripts/test-kubernetes starts a real one and calls this.
 *
 *   scripts/test-kubernetes scripts/bench kubernetes [--steps 6] [--rounds 3]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clusterAccess } from "../src/adapter/kubernetes/access.ts";
import { type CrashRun, layOut } from "../src/testing/crash/crash-pipeline.ts";
import { dockerForTests, testImage } from "../src/testing/docker-image.ts";
import { startServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";
import { timeSteps } from "./bench-steps.ts";

const { values } = parseArgs({
  options: { steps: { type: "string", default: "6" }, rounds: { type: "string", default: "3" } },
});
const [steps, rounds] = [Number(values.steps), Number(values.rounds)];
const BOUND = 1.3;
const printRow = (name: string, value: string) => console.log(`${name.padEnd(52)} ${value}`);
const [kubeconfig, admin] = [process.env["SKEP_TEST_KUBECONFIG"], process.env["SKEP_TEST_ADMIN_KUBECONFIG"]];
if (kubeconfig === undefined || admin === undefined) {
  console.error("bench: it needs a cluster: scripts/test-kubernetes scripts/bench kubernetes");
  process.exit(2);
}
const docker = await dockerForTests({ ...process.env, CI: "true" });
if (!docker) process.exit(2);
const image = await testImage(docker);
const { namespace } = clusterAccess({ kubeconfig, env: {} });

const COMMAND = "echo done > made; cat made";
const names = Array.from({ length: steps + 1 }, (_, n) => `s${n}`);
const run: CrashRun = {
  id: "pods",
  steps: names.map((id, n) => ({ id, agent: "noter", needs: n === 0 ? [] : [`s${n - 1}`], input: "Work" })),
  script: {
    version: 1,
    steps: Object.fromEntries(
      names.map((id) => [
        id,
        [
          { tool_calls: [{ tool: "bash", input: { command: COMMAND } }] },
          { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] },
        ],
      ]),
    ),
  },
};

/**
 * Times of the steps in ms, from when each could begin until its end. The first step also tests whether the network is
 * closed.
 */
async function stepsOf(): Promise<{ first: number; later: number[] }> {
  const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
  const env = { SANDBOX: "kubernetes", KUBERNETES_CONFIG: kubeconfig!, AGENT_IMAGE: image, RATE_LIMIT: "0" };
  const server = await startServer({ data, env: { DEMO_SCRIPT: layOut(data, run), ...env } });
  try {
    return await timeSteps(server, run.id);
  } finally {
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function runKubectl(...args: string[]): Promise<void> {
  const child = Bun.spawn(["kubectl", "--kubeconfig", admin!, "-n", namespace, ...args], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`kubectl ${args[0]}: ${said}`);
}

/** The same by hand: creates a Pod, waits until it can be entered, and runs a command in it. */
async function byHand(name: string): Promise<number> {
  const begun = performance.now();
  const how = ["--restart=Never", "--image-pull-policy=IfNotPresent"];
  await runKubectl("run", name, `--image=${image}`, ...how, "--command", "--", "sleep", "600");
  await runKubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=120s");
  await runKubectl("exec", name, "--", "sh", "-c", `cd /tmp; ${COMMAND}`);
  const tookMs = performance.now() - begun;
  await runKubectl("delete", "pod", name, "--grace-period=0", "--force", "--wait=false");
  return tookMs;
}

const figures = { skep: [] as number[], hand: [] as number[] };
for (let round = 0; round < rounds; round++) {
  const { first, later } = await stepsOf();
  figures.skep.push(...later);
  printRow("the first step of a server", `${first.toFixed(0)} ms`);
  for (let n = 0; n < steps; n++) figures.hand.push(await byHand(`bench-${round}-${n}`));
}
const formatTimes = (all: readonly number[]) =>
  `${median(all).toFixed(0)} ms   p95 ${quantile(all, 0.95).toFixed(0)} ms`;
const ratio = median(figures.skep) / median(figures.hand);
printRow("a step: Pod, files, command, files back", formatTimes(figures.skep));
printRow("kubectl run, wait, exec", formatTimes(figures.hand));
printRow("ratio", `${ratio.toFixed(2)} (target ${BOUND})`);
printRow("load", loadavg()[0]!.toFixed(1));
