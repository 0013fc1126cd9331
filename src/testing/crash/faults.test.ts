/** Faults around the server: each has a clear state and message, and work continues once it is repaired. */
import { afterEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { SkepEvent } from "../../core/events.ts";
import type { Run } from "../../feature/runs/model.ts";
import type { Status } from "../../feature/status/model.ts";
import { skep } from "../command.ts";
import { dockerForTests, testImage } from "../docker-image.ts";
import { isRoot, lacks } from "../parts.ts";
import { startServer, type TestServer } from "../server.ts";
import { layOut, sixSteps, twoSteps } from "./crash-pipeline.ts";
import { dockerCut } from "./docker-cut.ts";
import { readEvents } from "./event-reader.ts";

const docker = await dockerForTests(process.env);
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "skep-fault-"));
  clean.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function serve(data: string, env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ data, env: { ALLOW_HOST_SHELL: "true", ...env } });
  clean.push(() => server.stop("SIGKILL"));
  return server;
}

const eventOf = (server: TestServer, fits: (event: SkepEvent) => boolean) =>
  new Promise<SkepEvent>((resolve) => {
    const reader = readEvents(server.url, 0, (event) => {
      if (!fits(event)) return;
      resolve(event);
      reader.close();
    });
  });

const start = async (server: TestServer, pipeline_id: string) =>
  (await server.request<Run>("POST", "/v1/runs", { body: { pipeline_id, task_description: "do it" } })).body;
const runOf = async (server: TestServer, { id }: Run) => (await server.request<Run>("GET", `/v1/runs/${id}`)).body;
/** Lets the commands of a run that is `held` continue. */
const letGo = (data: string, { id }: Run) => writeFileSync(join(data, "workspaces", id, "go"), "");
const isEnd = ({ kind }: SkepEvent) => kind === "run_complete" || kind === "run_failed";

describe("a data folder", () => {
  test("that a server works on is refused to a second one, in one line with the remedy", async () => {
    const data = folder();
    const server = await serve(data);
    const second = await skep(["serve"], { env: { DATA: data, PORT: "0", SANDBOX: "process" } });
    expect(second.code).not.toBe(0);
    expect(second.stderr.trim().split("\n")).toEqual([
      `skep: Another skep works on ${data}. Stop it, or name another folder with --data. It runs at ${server.url} (process ${server.pid}).`,
    ]);
    expect((await server.request("GET", "/healthz")).status).toBe(200);
  }, 300_000);

  test("of a newer version is refused, in one line with the remedy, and stays as it is", async () => {
    const data = folder();
    await (await serve(data)).stop();
    const db = new Database(join(data, "skep.db"));
    db.exec("INSERT INTO migrations (name, applied_at) VALUES ('9999-from-the-future', '2030-01-01T00:00:00.000Z')");
    db.close();
    const before = readFileSync(join(data, "skep.db"));
    const { code, stderr } = await skep(["serve"], { env: { DATA: data, PORT: "0", SANDBOX: "process" } });
    expect(code).not.toBe(0);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain(
      "was written by a newer skep (9999-from-the-future). Use that version, or restore a backup.",
    );
    expect(readFileSync(join(data, "skep.db")).equals(before)).toBe(true);
  }, 300_000);
});

describe("a full disk", () => {
  test.skipIf(lacks("root", isRoot))(
    "is answered as such, loses nothing that was answered, and the run continues when there is room again",
    async () => {
      const room = folder();
      const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=192m", "tmpfs", room]);
      expect(mounted.stderr.toString()).toBe("");
      clean.push(() => Bun.spawnSync(["umount", "-l", room]));
      const data = join(room, "data");
      mkdirSync(data);
      const script = layOut(data, sixSteps({ commandMs: 100, replyMs: 50, held: true }));
      const server = await serve(data, { DEMO_SCRIPT: script });
      const secret = (name: string, size = 20_000) => ({ name, value: "x".repeat(size), description: "" });
      const write = (name: string) => server.request("POST", "/v1/secrets", { body: secret(name) });
      expect((await write("BEFORE")).status).toBe(201);
      const ended = eventOf(server, isEnd);
      const run = await start(server, "six");
      await eventOf(server, ({ kind }) => kind === "tool_call_start");

      const filler = openSync(join(room, "filler"), "w");
      clean.push(() => closeSync(filler));
      fill(filler);
      const kept: string[] = [];
      let refused = await write("FIRST");
      // What fits into the log's remaining space may still be written.
      for (let n = 0; refused.status === 201 && n < 500; n++) {
        kept.push(`KEPT_${n}`);
        refused = await write(`KEPT_${n}`);
        if (refused.status !== 201) kept.pop();
      }
      expect(refused).toMatchObject({ status: 503, body: { code: "disk_full", title: "Service Unavailable" } });
      expect(refused.headers.get("content-type")).toBe("application/problem+json");
      expect((await server.request("GET", "/v1/secrets")).status).toBe(200);
      // The command ends now, and there is no space to record that.
      letGo(data, run);
      expect((await runOf(server, run)).status).toBe("running");

      ftruncateSync(filler, 0);
      expect((await ended).kind).toBe("run_complete");
      expect((await write("AFTER")).status).toBe(201);
      await server.stop("SIGKILL");
      const next = await serve(data, { DEMO_SCRIPT: script });
      const names = (await next.request<{ items: { name: string }[] }>("GET", "/v1/secrets?limit=200")).body.items.map(
        ({ name }) => name,
      );
      expect(names).toEqual(expect.arrayContaining(["BEFORE", ...kept.slice(-150), "AFTER"]));
      expect((await runOf(next, run)).outputs).toEqual({ ship: { shipped: "yes" } });
    },
    300_000,
  );
});

/** Writes until the disk is full. */
function fill(file: number): void {
  for (const size of [1024 * 1024, 4_096, 1])
    try {
      for (const block = new Uint8Array(size); ; ) writeSync(file, block);
    } catch (error) {
      expect((error as { code?: string }).code).toBe("ENOSPC");
    }
}

/** Waits until no container has that label. */
async function untilNone(label: string): Promise<void> {
  while ((await docker!.containers.list([label])).length > 0) await Bun.sleep(20);
}

describe.skipIf(!docker)("the Docker engine", () => {
  test("that goes away under a run and comes back costs the run nothing but time", async () => {
    const data = folder();
    const script = layOut(data, twoSteps({ commandMs: 20, replyMs: 20, held: true }));
    const way = await dockerCut(join(data, "skep.docker.sock"));
    clean.push(way.cut);
    const image = { AGENT_IMAGE: await testImage(docker!), IMAGE_PULL: "false" };
    const server = await serve(data, { SANDBOX: "docker", DOCKER_HOST: way.address, DEMO_SCRIPT: script, ...image });
    const ended = eventOf(server, isEnd);
    const run = await start(server, "two");
    await eventOf(server, ({ kind }) => kind === "tool_call_start");
    await way.cut();
    letGo(data, run);
    const notice = await eventOf(
      server,
      ({ kind, data: { title } }) => kind === "activity" && /sandbox|Docker/.test(String(title)),
    );
    expect(String(notice.data["title"])).toMatch(/Docker at unix:.* does not answer|The sandbox is gone/);
    expect((await runOf(server, run)).status).toBe("running");
    // This is said only once, however often it is tried, and the run shows it for as long as it lasts.
    const waits = await eventOf(server, ({ data: { title } }) => /^Waits: Docker at unix:/.test(String(title)));
    expect((await runOf(server, run)).waiting_reason).toBe(String(waits.data["title"]).replace("Waits: ", ""));
    await way.mend();
    expect((await ended).kind).toBe("run_complete");
    const after = await runOf(server, run);
    expect([after.outputs, after.waiting_reason]).toEqual([{ check: { checked: "M" } }, null]);
    const stream = await server.request<string>(
      "GET",
      `/v1/events/stream?run_id=${run.id}&kinds=activity,run_complete`,
    );
    const titles = [...stream.body.matchAll(/"title":"([^"]*)"/g)].map(([, title]) => title!);
    expect(titles.filter((title) => /^Waits: Docker at/.test(title))).toHaveLength(1);
    expect(titles.filter((title) => title === "Continues.")).toHaveLength(1);
    await server.stop();
    // If agents have worked in containers before, a server that finds no engine at its start keeps using containers.
    await way.cut();
    const next = await serve(data, { SANDBOX: "auto", DOCKER_HOST: way.address, DEMO_SCRIPT: script, ...image });
    const { sandbox } = (await next.request<Status>("GET", "/v1/status")).body;
    expect(sandbox).toMatchObject({ kind: "docker", reason: expect.stringContaining("waits for it") });
    await way.mend();
    await untilNone(`skep.run=${run.id}`);
    await next.stop();
  }, 300_000);

  test("that loses a container under a command tells the model, and the run continues in a new one", async () => {
    const data = folder();
    const script = layOut(data, twoSteps({ commandMs: 20, replyMs: 20, held: true }));
    const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), IMAGE_PULL: "false", DEMO_SCRIPT: script };
    const server = await serve(data, env);
    const ended = eventOf(server, isEnd);
    const run = await start(server, "two");
    const journal = join(data, "workspaces", run.id, "journal");
    while (!existsSync(journal)) await Bun.sleep(20);
    const [container] = await docker!.containers.list([`skep.run=${run.id}`]);
    await docker!.containers.kill(container!.id);
    letGo(data, run);
    const notice = await eventOf(server, ({ data: { interrupted } }) => interrupted === true);
    expect(notice.data).toMatchObject({ ok: false, tool: "bash" });
    expect((await ended).kind).toBe("run_complete");
    expect(readFileSync(journal, "utf8").match(/begin \S+ 1_1/g)).toHaveLength(2);
    await server.stop();
    expect(await docker!.containers.list([`skep.run=${run.id}`])).toEqual([]);
  }, 300_000);

  test("a chat's idle container is shown, goes with a killed server, and its files are there at the next message", async () => {
    const data = folder();
    const bash = (command: string) => [{ text: "I look.", tool_calls: [{ tool: "bash", input: { command } }] }];
    const turns = [
      ...bash("echo kept-by-the-first > note"),
      { text: "Noted." },
      ...bash("cat note"),
      { text: "Read." },
    ];
    const script = layOut(data, twoSteps({ commandMs: 10, replyMs: 10 }));
    writeFileSync(script, JSON.stringify({ version: 1, chats: { noter: turns } }));
    const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), IMAGE_PULL: "false", DEMO_SCRIPT: script };
    const server = await serve(data, env);
    const say = (to: TestServer, message: string) =>
      to.request<string>("POST", `/v1/chat/sessions/${chat}/message?stream=true`, { body: { message } });
    const body = { agent_id: "noter", model: "demo/scripted" };
    const { id: chat } = (await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body })).body;
    await say(server, "Note it.");
    const [idle] = await docker!.containers.list([`skep.session=${chat}`]);
    const { items } = (
      await server.request<{ items: { id: string; container_id: string }[] }>("GET", "/v1/lifecycle/sessions")
    ).body;
    expect(items.map(({ id, container_id }) => [id, container_id])).toEqual([[chat, idle!.id]]);
    await server.stop("SIGKILL");
    const after = await serve(data, env);
    await untilNone(`skep.session=${chat}`);
    expect(String((await say(after, "Read it.")).body)).toContain("kept-by-the-first");
    await after.stop();
    expect(await docker!.containers.list([`skep.session=${chat}`])).toEqual([]);
  }, 300_000);

  test("without the agents' image fails the run with the commands that bring one, and notifies", async () => {
    const data = folder();
    const script = layOut(data, twoSteps({ commandMs: 10, replyMs: 10 }));
    const env = { SANDBOX: "docker", AGENT_IMAGE: "skep/not-here:1", IMAGE_PULL: "false", DEMO_SCRIPT: script };
    const server = await serve(data, env);
    const run = await start(server, "two");
    await eventOf(server, isEnd);
    const { status, error } = await runOf(server, run);
    expect({ status, code: error?.code }).toEqual({ status: "failed", code: "image_missing" });
    expect(error?.message).toContain("skep image load FILE");
    expect(error?.message).toContain("skep image build");
    const notice = await eventOf(
      server,
      ({ kind, data: { title } }) => kind === "notification" && title === "The agents' image is missing",
    );
    expect(notice.data["detail"]).toContain("skep image load");
  }, 300_000);
});
