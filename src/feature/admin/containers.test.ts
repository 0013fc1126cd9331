/** Images and containers on the machine's real container engine, with a registry that the test runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { createImageRegistry, type ImageRegistry } from "../../testing/image-registry.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Notification } from "../notifications/model.ts";
import type { Container } from "./model.ts";
import type { LayerState } from "./pull-image.ts";

const docker = await dockerForTests(process.env);
const SCRIPT = join(tmpdir(), `skep-containers-${process.pid}.yml`);
let server: TestServer;
let registry: ImageRegistry;
let image: string;
const made: string[] = [];

interface Progress {
  data: Job & { job_id: string; progress?: { layers: LayerState[] } };
}
const call = <T>(method: string, path: string, body?: unknown) => server.request<T>(method, path, { body });
const notices = async () => (await call<{ items: Notification[] }>("GET", "/v1/admin/notifications")).body.items;
const progress = () => framesOf<Progress>(server, "/v1/events/stream?kinds=job_progress&after=0");
const of = (job: Job) => (frame: { data: Progress }) => frame.data.data.job_id === job.id;
const bytesOf = ({ data }: Progress): number =>
  data.progress?.layers.reduce((sum, one) => sum + (one.current_bytes ?? 0), 0) ?? 0;

describe.skipIf(!docker)("on the engine", () => {
  beforeAll(async () => {
    registry = await createImageRegistry();
    image = await testImage(docker!);
    const bash = { tool: "bash", input: { command: "sleep 60" } };
    writeFileSync(SCRIPT, JSON.stringify({ version: 1, default: [{ tool_calls: [bash] }] }));
    server = await startServer({ env: { SANDBOX: "docker", AGENT_IMAGE: registry.image, DEMO_SCRIPT: SCRIPT } });
  });
  afterAll(async () => {
    for (const id of made) await docker?.containers.remove(id);
    await server?.stop();
    await server?.remove();
    await docker?.images.remove(registry.image).catch(() => {});
    await registry?.stop();
    rmSync(SCRIPT, { force: true });
  });

  async function startContainer(command: string, instance?: string): Promise<string> {
    const db = new Database(join(server.data, "skep.db"), { readonly: true });
    const own = db.prepare<unknown[], string>("SELECT value FROM facts WHERE name = 'instance_id'").pluck().get()!;
    db.close();
    const id = await docker!.containers.create({
      Image: image,
      Cmd: ["sh", "-c", command],
      HostConfig: { NanoCpus: 200_000_000, NetworkMode: "none" },
      Labels: {
        "skep.instance": instance ?? own,
        "skep.session": "sess_made",
        "skep.execution": "exe_made",
        "skep.agent": "scribe",
        "skep.run": "run_made",
      },
    });
    made.push(id);
    await docker!.containers.start(id);
    return id;
  }

  test("a missing image is reported; a pull shows each layer as it arrives, and clears the report", async () => {
    await framesUntil(
      framesOf<{ data: Notification }>(server, "/v1/events/stream?kinds=notification&after=0"),
      (frame) => frame.data.data.title.includes("image is missing"),
    );
    expect(await notices()).toMatchObject([{ level: "warning", detail: expect.stringContaining(registry.image) }]);
    registry.hold();
    const started = await call<Job>("POST", "/v1/admin/pull-image", { image: registry.image });
    expect(started.status).toBe(202);
    expect(started.headers.get("location")).toBe(`/v1/jobs/${started.body.id}`);
    expect(started.body).toMatchObject({ kind: "pull_image", subject: registry.image, state: "queued" });
    const frames = progress();
    const half = await framesUntil(frames, (frame) => of(started.body)(frame) && bytesOf(frame.data) > 0);
    expect(half.at(-1)?.data.data.progress?.layers).toHaveLength(registry.layers);
    const { body: underWay } = await call<Job>("GET", `/v1/jobs/${started.body.id}`);
    expect(underWay).toMatchObject({ state: "running", finished_at: null });
    registry.release();
    const all = await framesUntil(
      progress(),
      (frame) => of(started.body)(frame) && frame.data.data.state === "succeeded",
    );
    const percents = all.filter(of(started.body)).map((frame) => frame.data.data.percent ?? 0);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBe(100);
    const { body: done } = await call<Job>("GET", `/v1/jobs/${started.body.id}`);
    const there = await docker!.images.inspect(registry.image);
    expect(there).toBeDefined();
    expect(done).toMatchObject({ state: "succeeded", result: { image: registry.image, image_id: there!.id } });
    expect(await notices()).toEqual([]);
  });

  test("a pull that is cancelled ends, and leaves no image", async () => {
    const other = await createImageRegistry();
    other.hold();
    const { body: job } = await call<Job>("POST", "/v1/admin/pull-image", { image: other.image });
    await framesUntil(progress(), (frame) => of(job)(frame) && bytesOf(frame.data) > 0);
    const path = `/v1/jobs/${job.id}/cancel`;
    expect((await call("POST", path)).status).toBe(202);
    await framesUntil(progress(), (frame) => of(job)(frame) && frame.data.data.state === "cancelled");
    expect((await call<Job>("GET", `/v1/jobs/${job.id}`)).body).toMatchObject({
      state: "cancelled",
      detail: "It was cancelled.",
      error: null,
    });
    // The engine closes its connection to the registry only when it receives the next bytes from it.
    other.release();
    while (other.open() > 0) await Bun.sleep(5);
    expect(await docker!.images.inspect(other.image)).toBeUndefined();
    expect((await call<{ code: string }>("POST", path)).body.code).toBe("job_ended");
    expect((await call("POST", "/v1/jobs/job_nothing/cancel")).status).toBe(404);
    await other.stop();
  });

  test("an image that the registry does not have fails the job with what the engine said", async () => {
    const missing = registry.image.replace(/pulled:.*/, "pulled/absent:1");
    const { body: job } = await call<Job>("POST", "/v1/admin/pull-image", { image: missing });
    const frames = await framesUntil(progress(), (frame) => of(job)(frame) && frame.data.data.state === "failed");
    expect(frames.at(-1)?.data.data.error).toMatchObject({ code: expect.stringMatching(/^docker_/) });
  });

  test.each(["--help", "two words", "", "UPPER/case", "a/../b", "x:y:z"])("%p is not an image name", async (name) => {
    expect((await call("POST", "/v1/admin/pull-image", { image: name })).status).toBe(422);
  });

  test("containers of this instance are listed as they are now, and nobody else's", async () => {
    const busy = await startContainer("while :; do :; done");
    const over = await startContainer("exit 3");
    await startContainer("sleep 60", "another-instance");
    while ((await docker!.containers.state(over)).running) await Bun.sleep(5);
    const { body } = await call<{ items: Container[] }>("GET", "/v1/admin/containers");
    expect(body.items.map(({ id }) => id).toSorted()).toEqual([busy, over].toSorted());
    const [running, ended] = [busy, over].map((id) => body.items.find((one) => one.id === id)!);
    expect(running).toMatchObject({
      image,
      state: "running",
      agent_id: "scribe",
      session_id: "sess_made",
      run_id: "run_made",
    });
    // The limit is 20 %; how much of it the container gets depends on the machine's other work.
    expect(running!.cpu_percent).toBeGreaterThan(1);
    expect(running!.memory_bytes).toBeGreaterThan(0);
    expect(ended).toMatchObject({ state: "exited", cpu_percent: null, memory_bytes: null });
    for (const id of [busy, over]) await docker!.containers.remove(id);
  });

  test("a container's output streams line by line as it comes, both streams, to its end", async () => {
    const id = await startContainer("echo one; echo two >&2; sleep 0.2; echo 'last\r'");
    const log = framesOf<{ stream: string; text: string }>(server, `/v1/admin/containers/${id}/logs`);
    const lines: [string, string][] = [];
    for await (const { event, data } of log) {
      if (event === "log") lines.push([data.stream, data.text]);
      if (event === "end") break;
    }
    expect(lines.filter(([stream]) => stream === "stdout")).toContainEqual(["stdout", "one"]);
    expect(lines).toContainEqual(["stderr", "two"]);
    expect(lines).toContainEqual(["stdout", "last"]);
    const tail = framesOf<{ text: string }>(server, `/v1/admin/containers/${id}/logs?tail=1&follow=false`);
    expect((await framesUntil(tail, ({ event }) => event === "end")).map(({ data }) => data.text)).toEqual([
      "last",
      undefined as never,
    ]);
    const foreign = await startContainer("echo secret", "another-instance");
    for (const unknown of [foreign, "nothing"])
      expect((await call("GET", `/v1/admin/containers/${unknown}/logs`)).status).toBe(404);
    await docker!.containers.remove(id);
  });

  test("an agent's container is there while it works, named after its run, and gone afterwards", async () => {
    await call("POST", "/v1/agents", { id: "sleeper", prompt: "You sleep.", model: "demo/scripted", image });
    const steps = [{ id: "sleep", agent: "sleeper", input: "Sleep." }];
    await call("POST", "/v1/pipelines", { id: "sleep", name: "Sleep", steps });
    const { body: run } = await call<{ id: string }>("POST", "/v1/runs", {
      pipeline_id: "sleep",
      task_description: "x",
    });
    const events = () => framesOf(server, `/v1/events/stream?run_id=${run.id}&after=0`);
    await framesUntil(events(), ({ event }) => event === "tool_call_start");
    const live = async () =>
      (await call<{ items: Container[] }>("GET", "/v1/admin/containers")).body.items.filter(
        ({ run_id }) => run_id === run.id,
      );
    expect(await live()).toMatchObject([{ agent_id: "sleeper", state: "running", image }]);
    await call("POST", `/v1/runs/${run.id}/cancel`);
    await framesUntil(events(), ({ event }) => event === "run_cancelled");
    while ((await live()).length > 0) await Bun.sleep(20);
  });
});
