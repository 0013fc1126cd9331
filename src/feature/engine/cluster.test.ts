/** A run whose agent works in Pods of a cluster, through the loss of a Pod and the loss of the server. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitForRunEnd } from "../../testing/attacks/held-run.ts";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { startFakeCluster } from "../../testing/kubernetes/fake-cluster.ts";
import { lacks } from "../../testing/parts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

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

/** Checks what administrators see of the Pod, and that a tool server that needs a container says where it can run. */
async function expectSeen(server: TestServer, pod: string, run: string): Promise<void> {
  const { body: shown } = await server.request<{ items: unknown[] }>("GET", "/v1/admin/containers");
  const about = { id: pod, state: "running", status: "runs", agent_id: "worker", run_id: run, memory_bytes: null };
  expect(shown.items).toMatchObject([about]);
  const asked = [pod, "another"].map((id) => server.request("GET", `/v1/admin/containers/${id}/logs`));
  const answers = (await Promise.all(asked)).map(({ status, body }) => [status, body["code"]]);
  expect(answers).toEqual([
    [409, "no_output_of_its_own"],
    [404, "not_found"],
  ]);
  const tools = { id: "files", name: "Files", transport: "stdio", image: "files:1" };
  await server.request("POST", "/v1/mcp", { body: tools });
  const isRefused = async () => {
    const { body } = await server.request<{ error: string | null }>("GET", "/v1/mcp/files");
    return /with SANDBOX=kubernetes only agents run in Pods\. .*give its address/.test(body.error ?? "");
  };
  await waitFor(isRefused, "the refusal of a tool server in a container");
}

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
      await expectSeen(server, pod, run);
      if (how === "the server is killed") {
        await server.stop("SIGKILL");
        expect(cluster.pods.has(pod)).toBe(true);
        server = await startServer({ env, data: server.data });
      } else cluster.setStatus(pod, { phase: "Failed", reason: "Evicted", message: "The node was low on memory" });
      expect(await waitForRunEnd(server, undefined, run)).toMatchObject({ status: "succeeded" });
      const workspace = join(server.data, "workspaces", run);
      expect(readFileSync(join(workspace, "two"), "utf8")).toBe("one\n");
      await waitFor(() => cluster.pods.size === 0, "the end of all Pods");
      expect(cluster.asked.filter((one) => one.startsWith("POST ") && one.endsWith("/pods"))).toHaveLength(2);
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
