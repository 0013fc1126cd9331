/** A run whose agent works in Pods of a cluster: over the loss of a Pod, and over that of the server. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ended } from "../../testing/attacks/held-run.ts";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { startFakeCluster } from "../../testing/kubernetes/fake-cluster.ts";
import { lacks } from "../../testing/parts.ts";
import { startServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
const folder = mkdtempSync(join(tmpdir(), "skep-cluster-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bash = (command: string) => ({ tool_calls: [{ tool: "bash", input: { command, timeout_seconds: 300 } }] });
const REPLIES = [
  bash("echo one > one"),
  bash("touch up; sleep 600"),
  bash("cat one > two"),
  { tool_calls: [{ tool: "complete", input: { outputs: { answer: "done" }, summary: "done" } }] },
];
const SOURCE =
  "id: work\nname: Work\ndefaults: { model: demo/scripted }\nsteps:\n  - id: work\n    agent: worker\n    input: go\n    outputs: [answer]\n";

test.skipIf(lacks("container engine", docker !== undefined)).each(["its Pod is evicted", "the server is killed"])(
  "a run goes on in another Pod when %s",
  async (how) => {
    const cluster = await startFakeCluster({ docker });
    const kubeconfig = join(folder, "kubeconfig");
    const token = cluster.access.authorization()?.replace("Bearer ", "");
    writeFileSync(
      kubeconfig,
      `current-context: x
contexts: [{name: x, context: {cluster: c, user: u, namespace: work}}]
clusters: [{name: c, cluster: {server: "${cluster.access.address}"}}]
users: [{name: u, user: {token: ${token}}}]
`,
    );
    writeFileSync(join(folder, "script.json"), JSON.stringify({ version: 1, steps: { work: REPLIES } }));
    const env = {
      SANDBOX: "kubernetes",
      KUBERNETES_CONFIG: kubeconfig,
      AGENT_IMAGE: await testImage(docker!),
      DEMO_SCRIPT: join(folder, "script.json"),
    };
    const first = await startServer({ env });
    let server = first;
    try {
      await server.request("POST", "/v1/agents", { body: { id: "worker", prompt: "You work." } });
      await server.request("POST", "/v1/pipelines", { body: { source: SOURCE } });
      const body = { pipeline_id: "work", task_description: "go" };
      const run = (await server.request("POST", "/v1/runs", { body })).body["id"] as string;
      const pod = await cluster.made;
      const isUp = async () => {
        const id = cluster.pods.get(pod)?.containerId;
        return id !== undefined && (await Bun.spawn(["docker", "exec", id, "test", "-e", "up"]).exited) === 0;
      };
      await waitFor(isUp, "the command at work");
      if (how === "the server is killed") {
        await server.stop("SIGKILL");
        expect(cluster.pods.has(pod)).toBe(true);
        server = await startServer({ env, data: server.data });
      } else cluster.setStatus(pod, { phase: "Failed", reason: "Evicted", message: "The node was low on memory" });
      expect(await ended(server, undefined, run)).toMatchObject({ status: "succeeded" });
      const workspace = join(server.data, "workspaces", run);
      expect(readFileSync(join(workspace, "two"), "utf8")).toBe("one\n");
      await waitFor(() => cluster.pods.size === 0, "the end of all Pods");
      expect(cluster.asked.filter((one) => one.startsWith("POST "))).toHaveLength(2);
      const { body: status } = await server.request<{ sandbox: { kind: string } }>("GET", "/v1/status");
      expect(status.sandbox.kind).toBe("kubernetes");
      expect(existsSync(join(workspace, "one"))).toBe(true);
    } finally {
      await server.remove();
      await first.remove();
      await cluster.close();
    }
  },
);
