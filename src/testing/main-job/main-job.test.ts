/** The main job, from outside: a pipeline over a real git repository, its agents in real containers. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { LABELS } from "../../adapter/sandbox/docker/container-spec.ts";
import type { Run, Step } from "../../feature/runs/model.ts";
import { dockerForTests, testImage } from "../docker-image.ts";
import { startServer, type TestServer } from "../server.ts";

const SECRET = "canary-5f1d3c8e7a";
const SCRIPT = `
version: 1
steps:
  build:
    - tool_calls:
        - { tool: bash, input: { command: "wc -c < README.md > size.txt; id -u > /tmp/uid; echo token=$DEPLOY_KEY; cat size.txt" } }
    - tool_calls: [{ tool: complete, input: { outputs: { size: "{{ last_tool_output }}" }, summary: "Counted the README" } }]
  check:
    - tool_calls: [{ tool: bash, input: { command: "test -s size.txt && test ! -e /tmp/uid && echo checked" } }]
    - tool_calls: [{ tool: complete, input: { outputs: { verdict: good }, summary: "It is there" } }]
`;
const PIPELINE = {
  id: "count",
  name: "Count",
  defaults: { model: "demo/scripted" },
  steps: [
    { id: "build", agent: "builder", input: "{{ task_description }}", outputs: ["size"] },
    { id: "check", agent: "builder", input: "Check {{ steps.build.outputs.size }}", outputs: ["verdict"] },
  ],
};

const docker: DockerClient | undefined = await dockerForTests(process.env);

describe.skipIf(!docker)("a run over a repository in containers", () => {
  let server: TestServer;
  let folder: string;
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "skep-main-"));
    const upstream = join(folder, "upstream");
    git("init", "-q", "-b", "main", upstream);
    writeFileSync(join(upstream, "README.md"), "# A small repository\n");
    git("-C", upstream, "add", ".");
    git("-C", upstream, "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-qm", "first");
    writeFileSync(join(folder, "script.yml"), SCRIPT);
    server = await startServer({
      env: {
        SANDBOX: "docker",
        AGENT_IMAGE: await testImage(docker!),
        DEMO_SCRIPT: join(folder, "script.yml"),
        ALLOW_LOCAL_REPOSITORIES: "true",
      },
    });
    for (const [path, body] of [
      ["/v1/agents", { id: "builder", name: "Builder", prompt: "You build.", network: "bridge" }],
      ["/v1/pipelines", PIPELINE],
      ["/v1/projects", { name: "small", repository: upstream, default_branch: "main" }],
      ["/v1/secrets", { name: "DEPLOY_KEY", value: SECRET }],
    ] as const)
      expect([path, (await server.request("POST", path, { body })).status]).toEqual([path, 201]);
    expect((await server.request("POST", "/v1/secrets/DEPLOY_KEY/grant/builder")).status).toBe(200);
  });
  afterAll(async () => {
    await server.stop();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("works on its own branch, hands outputs on, keeps granted secrets masked, and leaves no container", async () => {
    const made = await server.request<Run>("POST", "/v1/runs", {
      body: { pipeline_id: "count", task_description: "Count the README", project_name: "small" },
    });
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body.branch).toBe(`run/${id}`);
    const stream = await fetch(`${server.url}/v1/events/stream?run_id=${id}`, { headers: { "Last-Event-ID": "0" } });
    let events = "";
    for await (const chunk of stream.body!) {
      events += Buffer.from(chunk).toString();
      if (/event: run_(complete|failed|cancelled)\n/.test(events)) break;
    }
    const run = (await server.request<Run>("GET", `/v1/runs/${id}`)).body;
    expect(run).toMatchObject({ status: "succeeded", error: null, outputs: { check: { verdict: "good" } } });
    const steps = (await server.request<{ items: Step[] }>("GET", `/v1/steps/${id}`)).body.items;
    expect(String(steps[0]!.outputs["size"])).toContain("21");
    expect(events).toContain("token=");
    expect(JSON.stringify([run, steps]) + events + server.output()).not.toContain(SECRET);

    const clone = join(server.data, "projects", run.project_id!, "workspace");
    const subjects = git("-C", clone, "log", "--format=%s", `run/${id}`).split("\n");
    expect(subjects).toEqual(["build: Counted the README", "first"]);
    expect(git("-C", clone, "show", `run/${id}:size.txt`)).toBe("21");
    expect(git("-C", clone, "log", "--format=%s", "main")).toBe("first");

    // The last container is removed after the end of the run. If it never is, the test's time limit ends this.
    while ((await docker!.containers.list([`${LABELS.run}=${id}`])).length > 0) await Bun.sleep(50);
  }, 300_000);

  test("a server that is stopped leaves no network of its own in the engine", async () => {
    const database = new Database(join(server.data, "skep.db"), { readonly: true });
    const row = database.query("SELECT value FROM facts WHERE name = 'instance_id'").get() as { value: string };
    database.close();
    const ours = async () => (await docker!.networks.list([`${LABELS.instance}=${row.value}`])).map(({ name }) => name);
    expect(await ours()).toHaveLength(1);
    expect(await server.stop()).toBe(0);
    expect(await ours()).toEqual([]);
  }, 300_000);
});
