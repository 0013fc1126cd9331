/** Services of a project's environment, from the accepted definition to the commands of a run's agents. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skep } from "../../testing/command.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Project } from "../projects/model.ts";
import type { Run, Step } from "../runs/model.ts";
import type { ProjectSetup } from "../setups/model.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);

interface Shown {
  kind: string;
  data: { service: string; state: string; detail: string | null; output?: string };
}

describe.skipIf(!docker)("services of a project's environment", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-services-"));
  const source = join(folder, "source");
  const env = { SANDBOX: "docker", IMAGE_PULL: "false", DEMO_SCRIPT: join(folder, "script.json"), AGENT_IMAGE: "" };
  let image: string;
  let server: TestServer;
  let project: Project;
  /** Serves a number that grows with each request, which shows whether a service is still the same one. */
  const counter =
    'mkdir -p /srv/cgi-bin; printf "#!/bin/sh\\necho x >> /n\\necho\\nwc -l < /n\\n" > /srv/cgi-bin/n; chmod +x /srv/cgi-bin/n';
  const db = () => ({
    image,
    env: { SAYS: "hello" },
    command: ["sh", "-c", `sleep 1; ${counter}; touch /srv/ready; exec httpd -f -p 5432 -h /srv`],
    health: "wget -q -O /dev/null http://127.0.0.1:5432/ready",
    start_seconds: 200,
  });
  const call = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await server.request<T>(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const accept = (definition: unknown) => call("PUT", `/v1/projects/${project.id}/environment`, { definition });
  const start = (pipeline_id: string) =>
    call<Run>("POST", "/v1/runs", { pipeline_id, task_description: "Look", project_name: "web" });
  /** The events of a run up to that one. */
  async function shownUntil(run: string, isLast: (event: Shown) => boolean): Promise<Shown[]> {
    const frames = framesOf<Shown>(server, `/v1/events/stream?after=0&run_id=${run}`);
    return (await framesUntil(frames, ({ data }) => isLast(data))).map(({ data }) => data);
  }
  const isEnd = ({ kind }: Shown) => ["run_complete", "run_failed", "run_cancelled"].includes(kind);
  const nth = (count: number) => {
    let left = count;
    return ({ kind }: Shown) => kind === "tool_call_start" && --left === 0;
  };
  const statesIn = (events: readonly Shown[]) =>
    events.filter(({ kind }) => kind === "service_changed").map(({ data }) => `${data.service} ${data.state}`);
  const containersOf = (run: string) => docker!.containers.list([`skep.services=${run}`]);
  const waitForRemoval = async (run: string) => {
    while ((await containersOf(run)).length + (await docker!.networks.list([`skep.services=${run}`])).length > 0)
      await Bun.sleep(50);
  };
  const stepsOf = (run: string) => call<{ items: Step[] }>("GET", `/v1/steps/${run}`);
  const answers = (...commands: string[]) => [
    ...commands.map((command) => ({ tool_calls: [{ tool: "bash", input: { command } }] })),
    { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] },
  ];
  beforeAll(async () => {
    image = await testImage(docker!);
    env.AGENT_IMAGE = image;
    mkdirSync(source);
    writeFileSync(join(source, "README.md"), "Hello\n");
    const as = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "-A"],
      [...as, "commit", "-q", "-m", "first"],
    ])
      expect(Bun.spawnSync(["git", ...args], { cwd: source }).exitCode).toBe(0);
    const ask = "wget -q -O - http://db:5432/cgi-bin/n >> seen.txt";
    const forever = "until [ -e /tmp/never ]; do sleep 1; done";
    const until = (what: string) =>
      `until n=$(wget -q -O - http://db:5432/cgi-bin/n) && [ -n "$n" ] && [ "$n" ${what} ]; do sleep 0.2; done`;
    const script = {
      version: 1,
      steps: {
        one: answers(ask),
        two: answers(ask, "cat seen.txt"),
        // After a kill of the server, the interrupted call is not repeated, so there is a second one.
        long: answers(forever, forever),
        after: answers(until("-ge 5"), until("-lt 5")),
      },
    };
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    server = await startServer({ env });
    await call("POST", "/v1/agents", { id: "ann", prompt: "Work." });
    const pipeline = (id: string, ...steps: string[]) =>
      call("POST", "/v1/pipelines", {
        id,
        name: id,
        defaults: { model: "demo/scripted" },
        steps: steps.map((step, at) => ({ id: step, agent: "ann", input: "Do it.", needs: steps.slice(0, at) })),
      });
    for (const [id, ...steps] of [
      ["both", "one", "two"],
      ["long", "long"],
      ["after", "after"],
    ] as const)
      await pipeline(id, ...steps);
    project = await call<Project>("POST", "/v1/projects", { name: "web", repository: source });
    while (project.workspace.state === "cloning") {
      await Bun.sleep(50);
      project = await call<Project>("GET", `/v1/projects/${project.id}`);
    }
  });
  afterAll(async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("are healthy before the first step, are the same ones for all steps, and go with the run", async () => {
    await accept({ services: { db: db() } });
    const run = await start("both");
    const events = await shownUntil(run.id, isEnd);
    expect(events.at(-1)?.kind).toBe("run_complete");
    expect(statesIn(events)).toEqual(["db starting", "db healthy"]);
    const order = events.map(({ kind, data }) => (kind === "service_changed" ? data.state : kind));
    expect(order.indexOf("healthy")).toBeLessThan(order.indexOf("tool_call_start"));
    const seen = events.find(({ kind, data }) => kind === "tool_call_end" && data.output?.includes("2"));
    expect(seen?.data.output).toContain("1\n2\n");
    await waitForRemoval(run.id);
  });

  test("one that does not become healthy fails the step in plain words, with what it wrote last", async () => {
    const never = {
      image,
      command: ["sh", "-c", "echo the disk is missing; sleep 100000"],
      health: "false",
      start_seconds: 1,
    };
    await accept({ services: { db: never } });
    const run = await start("long");
    const events = await shownUntil(run.id, isEnd);
    expect(events.at(-1)?.kind).toBe("run_failed");
    const said = JSON.stringify(await stepsOf(run.id));
    expect(said).toContain("The service db did not become healthy in 1 s: `false` ended with exit code 1.");
    expect(said).toContain("the disk is missing");
    expect(new Set(statesIn(events))).toEqual(new Set(["db starting", "db failed"]));
    await waitForRemoval(run.id);
  });

  test("one that ends while the run works is started anew, and the run's page has how it ended", async () => {
    await accept({ services: { db: db() } });
    const run = await start("after");
    // The first call has counted to five. The second one waits for a smaller number, from a new service.
    await shownUntil(run.id, nth(2));
    const [first] = await containersOf(run.id);
    await docker!.containers.kill(first!.id);
    const events = await shownUntil(run.id, isEnd);
    expect(events.at(-1)?.kind).toBe("run_complete");
    // The step may reach the new service, and end the run, before the service counts as healthy.
    expect(statesIn(events).slice(0, 4)).toEqual(["db starting", "db healthy", "db ended", "db starting"]);
    expect(events.find(({ data }) => data.state === "ended")?.data.detail).toStartWith("ended with exit code 137");
    await waitForRemoval(run.id);
  });

  test("a killed server takes up those of its runs, removes those of runs that have ended, and cancelling removes them", async () => {
    const [kept, cancelled] = [await start("long"), await start("long")];
    for (const run of [kept, cancelled]) await shownUntil(run.id, nth(1));
    const before = await containersOf(kept.id);
    expect(before.map(({ state }) => state)).toEqual(["running"]);
    // A container that an earlier run has left behind.
    const labels = { "skep.instance": before[0]!.labels["skep.instance"]!, "skep.services": "run_ended" };
    await docker!.containers.create({ Image: image, Cmd: ["true"], Labels: labels });
    await server.stop("SIGKILL");
    server = await startServer({ env, data: server.data });
    await waitForRemoval("run_ended");
    for (const run of [kept, cancelled]) await shownUntil(run.id, nth(2));
    expect((await containersOf(kept.id)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    for (const run of [kept, cancelled]) {
      await call("POST", `/v1/runs/${run.id}/cancel`);
      await waitForRemoval(run.id);
    }
  });

  test("the project's check runs beside them, and they go with it", async () => {
    const check = "wget -q -O - http://db:5432/cgi-bin/n";
    const setup = "cat /proc/sys/kernel/random/uuid > /made";
    const layer = async () => (await call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`)).last;
    await accept({ image, setup, services: { db: db() }, check });
    const made = await skep(["projects", "setup", "web", "--data", server.data]);
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("` passes")]);
    await waitForRemoval(`check-${project.id}`);
    const before = await layer();
    await accept({ image, setup, services: { db: { ...db(), command: ["sh", "-c", "exit 3"] } }, check });
    const failed = await skep(["projects", "setup", "web", "--data", server.data]);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("The service db ended with exit code 3")]);
    // Changed services do not require a new installation of what the code needs.
    expect([(await layer())?.image, await layer()]).toEqual([expect.stringContaining("skep/setup:"), before]);
    const shown = await skep(["projects", "environment", "web", "--data", server.data]);
    expect(shown.stdout).toContain("healthy: wget -q");
    await call("DELETE", `/v1/projects/${project.id}/environment`);
  });

  test("what is no name, no image or too much is refused with its place", async () => {
    const put = (services: unknown) =>
      server.request<{ detail: string; errors: { field: string }[] }>("PUT", `/v1/projects/${project.id}/environment`, {
        body: { definition: { services } },
      });
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`s${at}`, { image }]));
    for (const services of [
      { "-x": { image } },
      { Db: { image } },
      { sandbox: { image } },
      { db: {} },
      many,
      { db: { image, mounts: [] } },
      { db: { image: "--privileged" } },
      { db: { image, start_seconds: 6_000 } },
    ])
      expect(await put(services)).toMatchObject({ status: 422 });
  });
});

test("where agents do not work in containers, the step fails with what to do, and doctor names the project", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-services-none-"));
  writeFileSync(join(folder, "README.md"), "Hello\n");
  const as = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    [...as, "commit", "-q", "-m", "first"],
  ])
    expect(Bun.spawnSync(["git", ...args], { cwd: folder }).exitCode).toBe(0);
  const server = await startServer({ env: { SANDBOX: "process" } });
  try {
    let { body: project } = await server.request<Project>("POST", "/v1/projects", {
      body: { name: "web", repository: folder },
    });
    while (project.workspace.state === "cloning") {
      await Bun.sleep(50);
      ({ body: project } = await server.request<Project>("GET", `/v1/projects/${project.id}`));
    }
    const body = { definition: { services: { db: { image: "postgres:17", health: "pg_isready" } } } };
    expect((await server.request("PUT", `/v1/projects/${project.id}/environment`, { body })).status).toBe(200);
    await server.request("POST", "/v1/agents", { body: { id: "ann", prompt: "Work." } });
    const steps = [{ id: "only", agent: "ann", input: "Do it." }];
    const pipeline = { id: "p", name: "P", defaults: { model: "demo/scripted" }, steps };
    await server.request("POST", "/v1/pipelines", { body: pipeline });
    const asked = { pipeline_id: "p", task_description: "Look", project_name: "web" };
    const { body: run } = await server.request<Run>("POST", "/v1/runs", { body: asked });
    await framesUntil(
      framesOf<Shown>(server, `/v1/events/stream?after=0&run_id=${run.id}`),
      ({ data }) => data.kind === "run_failed",
    );
    const said = JSON.stringify((await server.request("GET", `/v1/steps/${run.id}`)).body);
    expect(said).toContain(
      "cannot run here: agents do not work in containers. To work without them, take `services` out",
    );
    const doctor = await skep(["doctor", "--data", server.data]);
    expect(doctor.stdout).toContain("web (db): its work fails, since agents do not work in containers");
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
