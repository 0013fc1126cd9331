/** How long sandboxes live, tested with real processes of this machine and, for a chat, with a real container. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import { unavailable } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { createLog } from "../process/log.ts";
import { dockerCut } from "../testing/crash/docker-cut.ts";
import { dockerForTests, testImage } from "../testing/docker-image.ts";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel } from "../testing/hand-model.ts";
import { EXEC } from "../testing/sandbox-fixture.ts";
import type { Sandbox, SandboxDriver, SandboxSpec } from "./sandbox.ts";
import { createSandboxPool, type SandboxPool } from "./sandbox-pool.ts";

setDefaultTimeout(300_000);
const signal = new AbortController().signal;

describe("the pool of sandboxes", () => {
  let home: string;
  let started: Sandbox[];
  let stopped: Sandbox[];
  let idleMs: number;
  let pool: SandboxPool;
  let left: string[] = [];
  /** Sweeps wait for this promise. */
  let swept: Promise<void> | undefined;
  let isHeld: (executionId: string) => boolean;
  const near = createProcessSandboxes({ allowHostShell: true });
  const counting: SandboxDriver = {
    ...near,
    async sweep(isLive) {
      isHeld = isLive;
      await swept;
      return { removed: 0, left };
    },
    async start(spec, abort) {
      const real = await near.start(spec, abort);
      const sandbox: Sandbox = {
        ...real,
        async stop() {
          stopped.push(sandbox);
          await real.stop();
        },
      };
      started.push(sandbox);
      return sandbox;
    },
  };
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "skep-pool-"));
  });
  afterAll(() => rm(home, { recursive: true }));
  const fresh = () => {
    [started, stopped, idleMs, swept] = [[], [], 60_000, undefined];
    pool = createSandboxPool({ driver: counting, log: createLog({ logLevel: "silent" }), idleMs: () => idleMs });
  };
  afterEach(() => pool.close());

  const specOf = (sessionId: string, changes: Partial<SandboxSpec> = {}): SandboxSpec => ({
    executionId: newId("execution"),
    sessionId,
    agentId: "engineer",
    home,
    network: "none",
    memoryMb: 64,
    cpus: 1,
    env: {},
    ...changes,
  });
  const sh = async (sandbox: Sandbox, line: string) => (await sandbox.exec(["sh", "-c", line], EXEC)).output.trim();
  /** One turn that uses its sandbox. */
  async function turn(sessionId: string, changes: Partial<SandboxSpec> = {}, userId = "a"): Promise<Sandbox> {
    const lease = pool.lease({ spec: specOf(sessionId, changes), userId, env: {}, signal });
    await lease.open();
    await lease.release(true);
    return started.at(-1)!;
  }

  test("starts one at its first use, and none for work that needs none", async () => {
    fresh();
    const lease = pool.lease({ spec: specOf("s"), env: { OWN: "of this one" }, signal });
    await lease.sandbox.workspace.bringBack();
    expect(started).toHaveLength(0);
    expect(await sh(lease.sandbox, "echo $OWN")).toBe("of this one");
    await lease.release(false);
    expect(stopped).toEqual(started);
    await pool.lease({ spec: specOf("s"), env: {}, signal }).release(true);
    expect(started).toHaveLength(1);
  });

  test("stops one that waits where no turn can begin any more, and leaves the others", async () => {
    fresh();
    const [gone, there] = [await turn("gone"), await turn("there")];
    Object.assign(gone, { isAlive: async () => false });
    await pool.endUseless();
    expect(stopped).toEqual([gone]);
    expect(await turn("there")).toBe(there);
  });

  test("where one cannot be stopped, nothing works until a sweep has removed it", async () => {
    fresh();
    const spec = specOf("s", { workId: "run_1" });
    const lease = pool.lease({ spec, env: {}, signal });
    await lease.open();
    const fails = () => Promise.reject(new Error("the engine fails."));
    Object.assign(started[0]!, { freeze: fails, stop: fails });
    left = ["run_1"];
    const refusal = { status: 503, code: "sandbox_not_stopped" };
    await expect(lease.sandbox.freeze()).rejects.toMatchObject({
      ...refusal,
      detail: expect.stringMatching(/cannot be ended: the engine fails\. Its processes .*, end them by hand/),
    });
    await lease.release(false);
    await expect(pool.quiet(spec, signal)).rejects.toMatchObject(refusal);
    await pool.quiet(specOf("s"), signal);
    await pool.quiet(specOf("other", { workId: "run_2" }), signal);
    left = [];
    await pool.quiet(spec, signal);
    // Sandboxes of an earlier process that a sweep finds count as well.
    left = ["run_3"];
    await pool.sweep();
    await expect(pool.quiet({ ...spec, workId: "run_3" }, signal)).rejects.toMatchObject(refusal);
    left = [];
    await Promise.all([pool.quiet({ ...spec, workId: "run_3" }, signal), pool.sweep()]);
  });

  test("a sweep that hangs holds up only the places that it may clear, and forgets none meanwhile", async () => {
    fresh();
    const [one, two] = [specOf("s", { workId: "run_1" }), specOf("s", { workId: "run_2" })];
    const lease = pool.lease({ spec: two, env: {}, signal });
    await lease.open();
    left = ["run_1"];
    await pool.sweep();
    const hangs = Promise.withResolvers<void>();
    swept = hangs.promise;
    const cancel = new AbortController();
    const waits = pool.quiet(one, cancel.signal);
    await pool.quiet(two, signal);
    await pool.quiet({ sessionId: "chat" }, signal);
    cancel.abort(new Error("called off"));
    await expect(waits).rejects.toThrow("called off");
    started[0]!.stop = () => Promise.reject(new Error("the engine fails."));
    await lease.release(false);
    const sweeping = pool.sweep();
    left = [];
    hangs.resolve();
    await sweeping;
    await pool.quiet(one, signal);
    left = ["run_2"];
    await expect(pool.quiet(two, signal)).rejects.toMatchObject({ code: "sandbox_not_stopped" });
    left = [];
    await pool.quiet(two, signal);
  });

  test("until a first sweep has succeeded no run works and no sandbox starts, but chats without one go on", async () => {
    fresh();
    const down = unavailable("sandbox_unavailable", "Docker does not answer.");
    swept = Promise.reject(down);
    await expect(pool.sweep()).rejects.toBe(down);
    await expect(pool.quiet({ workId: "run_1", sessionId: "s" }, signal)).rejects.toBe(down);
    await pool.quiet({ sessionId: "s" }, signal);
    const lease = pool.lease({ spec: specOf("s"), env: {}, signal });
    await expect(lease.open()).rejects.toBe(down);
    expect(started).toHaveLength(0);
    swept = undefined;
    left = ["s"];
    await expect(lease.open()).rejects.toMatchObject({ code: "sandbox_not_stopped" });
    left = [];
    await lease.open();
    await pool.quiet({ workId: "run_1", sessionId: "s" }, signal);
    await lease.release(false);
    expect(stopped).toEqual(started);
  });

  test("a chat's next sandbox starts only when the last one, which no longer fits, is stopped", async () => {
    fresh();
    const first = await turn("s");
    const { stop } = first;
    first.stop = () => Promise.reject(new Error("the engine fails."));
    left = ["s"];
    const lease = pool.lease({ spec: specOf("s", { memoryMb: 65 }), env: {}, signal });
    await expect(lease.open()).rejects.toMatchObject({ code: "sandbox_not_stopped" });
    expect(started).toEqual([first]);
    left = [];
    await stop();
    await lease.open();
    expect(started).toHaveLength(2);
    await lease.release(false);
  });

  test("what ended unpaused is waited for by the next work at its place, until that is called off", async () => {
    fresh();
    const spec = specOf("s", { workId: "run_1" });
    const lease = pool.lease({ spec, env: {}, signal });
    await lease.open();
    const removed = Promise.withResolvers<void>();
    started[0]!.stop = () => removed.promise;
    const released = lease.release(false);
    let waits = true;
    const next = pool.quiet(spec, signal).then(() => {
      waits = false;
    });
    await expect(pool.quiet(spec, AbortSignal.abort(new Error("cancelled")))).rejects.toThrow("cancelled");
    const cancel = new AbortController();
    const called = pool.quiet(spec, cancel.signal);
    cancel.abort(new Error("called off"));
    await expect(called).rejects.toThrow("called off");
    expect(waits).toBe(true);
    removed.resolve();
    await Promise.all([released, next]);
    // A frozen sandbox does not have to be waited for.
    const other = pool.lease({ spec, env: {}, signal });
    await other.open();
    await other.sandbox.freeze();
    const gone = Promise.withResolvers<void>();
    started[1]!.stop = () => gone.promise;
    const ending = other.release(false);
    await pool.quiet(spec, signal);
    gone.resolve();
    await ending;
  });

  test("keeps it for the session's next turn, until its specification has changed or it has stopped", async () => {
    fresh();
    const first = await turn("s");
    expect(await turn("s")).toBe(first);
    const second = await turn("s", { memoryMb: 65 });
    expect(stopped).toEqual([first]);
    expect(second).not.toBe(first);
    await second.stop();
    expect(await turn("s", { memoryMb: 65 })).not.toBe(second);
  });

  test("what it started counts as held until it is stopped, so that no sweep takes it", async () => {
    fresh();
    const spec = specOf("s");
    const lease = pool.lease({ spec, env: {}, signal });
    await lease.open();
    await lease.release(true);
    await pool.sweep();
    expect(isHeld(spec.executionId)).toBe(true);
    await pool.close();
    expect(isHeld(spec.executionId)).toBe(false);
  });

  test("stops it with its session, after the idle time, and at once where that is 0", async () => {
    fresh();
    const ends = await turn("ends");
    pool.end("ends");
    await Bun.sleep(0);
    expect(stopped).toEqual([ends]);
    idleMs = 20;
    const idles = await turn("idles");
    while (stopped.length < 2) await Bun.sleep(5);
    expect(stopped).toEqual([ends, idles]);
    idleMs = 0;
    const gone = await turn("gone");
    expect(stopped).toEqual([ends, idles, gone]);
  });

  test("a user has so many that wait; the one that waited longest makes room, and another user's stays", async () => {
    fresh();
    const others = await turn("other", {}, "b");
    const own: Sandbox[] = [];
    for (let n = 0; n <= LIMITS.idleSandboxesPerUser; n++) own.push(await turn(`s${n}`));
    await Bun.sleep(0);
    expect(stopped).toEqual([own[0]!]);
    expect(await turn("other", {}, "b")).toBe(started.at(-1)!);
    expect(stopped).not.toContain(others);
  });
});

const docker = await dockerForTests(process.env);
const rigs = createRigs();
afterAll(() => rigs.close());

test.skipIf(!docker)(
  "a chat's container lives between its turns and goes with the chat; one turn alone leaves none",
  async () => {
    const image = await testImage(docker!);
    const model = createHandModel();
    const rig = await rigs.startRig({
      pipelines: {},
      models: model,
      env: { SANDBOX: "docker", AGENT_IMAGE: image },
      agents: { worker: "---\nname: Worker\ntools: [bash]\n---\nYou work." },
    });
    const { chat: chats } = rig.services;
    const chat = chats.create({ agent_id: "worker" }, LOCAL_ADMIN);
    const containers = async () => (await docker!.containers.list([`skep.session=${chat.id}`])).map(({ id }) => id);
    const turns = () => rig.events().filter(({ kind }) => kind === "turn_ended").length;
    async function turn(command?: string): Promise<string> {
      const before = turns();
      chats.send(chat.id, { message: "continue" }, LOCAL_ADMIN);
      let output = "";
      if (command) {
        (await model.next()).reply([{ tool: "bash", input: { command } }]);
        const next = await model.next();
        output = JSON.stringify(next.request.messages.at(-1));
        next.reply("done");
      } else (await model.next()).reply("done");
      await rig.event(({ kind }) => kind === "turn_ended" && turns() > before);
      return output;
    }
    await turn();
    expect(await containers()).toEqual([]);
    await turn("sleep 600 >/dev/null 2>&1 & echo $! > /tmp/pid; echo kept > file; echo $SKEP_EXECUTION_ID > first");
    const [own] = await containers();
    expect(own).toBeString();
    const said = await turn(
      "kill -0 $(cat /tmp/pid) && echo still-runs; test $(cat first) != $SKEP_EXECUTION_ID && echo own-id",
    );
    expect(said).toContain("still-runs");
    expect(said).toContain("own-id");
    expect(await containers()).toEqual([own!]);
    // As after a crash of the container engine: another container starts over the same files.
    await docker!.containers.remove(own!);
    expect(await turn("cat file; ls /tmp")).toContain("kept");
    expect(await containers()).not.toContain(own!);
    chats.end(chat.id, false, LOCAL_ADMIN);
    while ((await containers()).length > 0) await Bun.sleep(20);
  },
);

test.skipIf(!docker)(
  "a step whose container can be neither paused nor removed is not at its end, over a restart, until it is stopped",
  async () => {
    const image = await testImage(docker!);
    const folder = await mkdtemp(join(tmpdir(), "skep-way-"));
    const way = await dockerCut(join(folder, "docker.sock"));
    const model = createHandModel();
    const env = { SANDBOX: "docker", AGENT_IMAGE: image, IMAGE_PULL: "false", DOCKER_HOST: way.address };
    const rig = await rigs.startRig({
      models: model,
      env,
      agents: { worker: "---\nname: Worker\ntools: [bash]\n---\nYou work." },
      pipelines: { one: "id: one\nname: One\nsteps: [{ id: write, agent: worker, input: Write. }]" },
    });
    const { id } = await rig.create("one");
    const containers = async () => (await docker!.containers.list([`skep.run=${id}`])).length;
    const waits = (count: number) =>
      rig.event(
        () => rig.events().filter(({ data }) => /^Waits: .*removed/.test(String(data["title"]))).length >= count,
      );
    const command = "(while :; do echo x >> late; sleep 0.05; done) >/dev/null 2>&1 & until [ -s late ]; do :; done";
    (await model.next()).reply([{ tool: "bash", input: { command } }]);
    const last = await model.next();
    way.refuse(/^(POST .*\/pause|DELETE )/);
    last.reply([{ tool: "complete", input: { summary: "Written." } }]);
    await waits(1);
    const { status, waiting_reason } = rig.services.runs.views.one(id, LOCAL_ADMIN);
    expect([status, waiting_reason]).toEqual(["running", expect.stringContaining("neither paused nor removed")]);
    await rig.restart();
    await waits(2);
    expect([rig.services.runs.views.one(id, LOCAL_ADMIN).status, await containers()]).toEqual(["running", 1]);
    way.refuse(null);
    expect(await rig.waitForEnd(id)).toMatchObject({ status: "succeeded" });
    expect([await containers(), rig.calls()]).toEqual([0, 2]);
    await rig.close();
    await way.cut();
    await rm(folder, { recursive: true });
  },
);
