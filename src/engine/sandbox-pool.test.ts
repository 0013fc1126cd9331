/** How long sandboxes live: over real processes of this machine, and in a chat over a real container. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import { newId } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import { createLog } from "../core/log.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";
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
  const near = createProcessSandboxes({ allowHostShell: true });
  const counting: SandboxDriver = {
    ...near,
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
    [started, stopped, idleMs] = [[], [], 60_000];
    pool = createSandboxPool({ driver: counting, log: createLog({ logLevel: "silent" }), idleMs: () => idleMs });
  };
  afterEach(() => pool.close());

  const specOf = (sessionId: string, changes: Partial<SandboxSpec> = {}): SandboxSpec => ({
    ...{ executionId: newId("execution"), sessionId, agentId: "engineer", home, network: "none" },
    ...{ memoryMb: 64, cpus: 1, env: {}, ...changes },
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

  test("an engine that cannot pause it takes nothing from the work that is done", async () => {
    fresh();
    const lease = pool.lease({ spec: specOf("s"), env: {}, signal });
    await lease.open();
    started[0]!.freeze = () => Promise.reject(new Error("the engine is gone"));
    await lease.sandbox.freeze();
    await lease.release(false);
    expect(stopped).toEqual(started);
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
    expect(pool.holds(spec.executionId)).toBe(true);
    await pool.close();
    expect(pool.holds(spec.executionId)).toBe(false);
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
    const rig = await rigs.started({
      ...{ pipelines: {}, models: model, env: { SANDBOX: "docker", AGENT_IMAGE: image } },
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
    // As after a crash of the container engine: another one over the same files.
    await docker!.containers.remove(own!);
    expect(await turn("cat file; ls /tmp")).toContain("kept");
    expect(await containers()).not.toContain(own!);
    chats.end(chat.id, false, LOCAL_ADMIN);
    while ((await containers()).length > 0) await Bun.sleep(20);
  },
);
