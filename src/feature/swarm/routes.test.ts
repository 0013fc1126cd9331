/** /v1/swarm from outside: request, answer, events, rows. Two users of one server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { makeSlowAgent, SLOW, slowAgentScript } from "../../testing/slow-agent.ts";
import type { Swarm, SwarmTask } from "./model.ts";

// The limit is for busy machines; no test here waits for a clock.
setDefaultTimeout(300_000);

const slow = slowAgentScript();
let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", ...slow.env } });
  admin = await setupAdmin(server);
  await makeSlowAgent(server, admin.token);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(async () => {
  await server.remove();
  slow.remove();
});

const call = <T = Swarm>(method: string, path: string, body?: object, who = a) =>
  server.request<T>(method, `/v1/swarm${path}`, { body, token: who.token });
const tasksOf = async (id: string, who = a) =>
  (await call<{ items: SwarmTask[] }>("GET", `/${id}/tasks`, undefined, who)).body.items;
const task = (key: string, ...depends_on: string[]) => ({ key, prompt: `Do ${key}`, depends_on });
const until = async (id: string, kind = "swarm_complete") =>
  framesUntil(framesOf(server, `/v1/events/stream?swarm_id=${id}`, a.token), ({ data }) => data["kind"] === kind);

describe("POST /v1/swarm/execute", () => {
  test("answers 202 with the swarm; its tasks run in order, each with its events, and stay readable", async () => {
    const made = await call("POST", "/execute", {
      agent_id: "scribe",
      tasks: [task("write", "read"), { ...task("read"), title: "Reading", agent_id: "researcher" }],
      max_concurrent: 16,
    });
    expect(made.status).toBe(202);
    const { id } = made.body;
    expect(made.headers.get("location")).toBe(`/v1/swarm/${id}`);
    expect(made.body).toMatchObject({
      agent_id: "scribe",
      status: "running",
      task_count: 2,
      max_depth: 2,
      max_concurrent: 16,
      error: null,
      on_failure: "skip_dependents",
      timeout_seconds: 7_200,
      parent_session_id: null,
      title: "Do write",
    });
    expect(id).toStartWith("swm_");
    const frames = await until(id);
    expect(frames.map(({ data }) => [data["kind"], (data["data"] as Record<string, unknown>)["key"]])).toEqual([
      ["swarm_task_started", "read"],
      ["swarm_task_complete", "read"],
      ["swarm_task_started", "write"],
      ["swarm_task_complete", "write"],
      ["swarm_complete", undefined],
    ]);
    const { body } = await call("GET", `/${id}`);
    expect(body).toMatchObject({ status: "succeeded", counts: { succeeded: 2 }, cost_usd: 0 });
    expect(body.tokens).toBeGreaterThan(0);
    expect(body.finished_at).not.toBeNull();
    const tasks = await tasksOf(id);
    expect(tasks).toMatchObject([
      { key: "write", title: "Do write", agent_id: "scribe", status: "succeeded", depends_on: ["read"], error: null },
      { key: "read", title: "Reading", agent_id: "researcher", status: "succeeded", model: "demo/scripted" },
    ]);
    const db = new Database(join(server.data, "skep.db"), { readonly: true });
    const sessions = db
      .prepare("SELECT id, kind, parent_id, user_id, status FROM sessions WHERE root_id = ? ORDER BY id")
      .all(body.session_id);
    db.close();
    expect(sessions).toMatchObject([
      { id: body.session_id, kind: "swarm", parent_id: null, user_id: a.id, status: "succeeded" },
      { id: tasks[1]!.session_id, parent_id: body.session_id, user_id: a.id, status: "succeeded" },
      { id: tasks[0]!.session_id, parent_id: body.session_id, user_id: a.id, status: "succeeded" },
    ]);
    expect((await call("POST", `/${id}/cancel`)).status).toBe(409);
  });

  test.each([
    ["a circle", { tasks: [task("a", "b"), task("b", "a")] }, 422, "/tasks/0/depends_on"],
    ["an unknown dependency", { tasks: [task("a"), task("b", "c")] }, 422, "/tasks/1/depends_on/0"],
    ["a key that occurs twice", { tasks: [task("a"), task("a")] }, 422, "/tasks/1/key"],
    ["no task", { tasks: [] }, 422, "/tasks"],
    ["too many tasks", { tasks: Array.from({ length: 51 }, (_, at) => task(`t${at}`)) }, 422, "/tasks"],
    ["an empty prompt", { tasks: [{ key: "a", prompt: " " }] }, 422, "/tasks/0/prompt"],
    ["too many at once", { tasks: [task("a")], max_concurrent: 17 }, 422, "/max_concurrent"],
    ["none at once", { tasks: [task("a")], max_concurrent: 0 }, 422, "/max_concurrent"],
    ["an unknown way on", { tasks: [task("a")], on_failure: "retry" }, 422, "/on_failure"],
    ["an unknown agent of a task", { tasks: [{ ...task("a"), agent_id: "nobody" }] }, 422, "/tasks/0/agent_id"],
    ["an unknown provider", { tasks: [{ ...task("a"), model: "no/model" }] }, 422, "/tasks/0/model"],
    ["an unknown project", { tasks: [task("a")], project_id: "proj_none" }, 422, "/project_id"],
    ["an unknown agent", { agent_id: "nobody-here", tasks: [task("a")] }, 404, undefined],
  ])("refuses %s, naming the field, and starts nothing", async (_, body, status, pointer) => {
    const before = (await call<{ items: Swarm[] }>("GET", "?limit=200")).body.items.length;
    const answer = await call<{ errors?: { pointer: string }[] }>("POST", "/execute", { agent_id: "scribe", ...body });
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([status, pointer]);
    expect((await call<{ items: Swarm[] }>("GET", "?limit=200")).body.items).toHaveLength(before);
  });
});

describe("swarms", () => {
  test("are listed page by page, newest first, and their tasks too", async () => {
    const ids: string[] = [];
    for (const _ of [1, 2, 3])
      ids.push(
        (await call("POST", "/execute", { agent_id: "scribe", tasks: [task("a"), task("b"), task("c")] })).body.id,
      );
    const found: string[] = [];
    for (let cursor = ""; found.length < 3; ) {
      const { body } = await call<{ items: Swarm[]; next_cursor: string }>("GET", `?limit=1${cursor}`);
      found.push(...body.items.map(({ id }) => id));
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(found).toEqual(ids.reverse());
    const first = await call<{ items: SwarmTask[]; next_cursor: string }>("GET", `/${ids[0]}/tasks?limit=2`);
    const rest = await call<{ items: SwarmTask[] }>("GET", `/${ids[0]}/tasks?cursor=${first.body.next_cursor}`);
    expect([...first.body.items, ...rest.body.items].map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });

  test("are cancelled once, with everything below them", async () => {
    const { id } = (await call("POST", "/execute", { agent_id: SLOW, tasks: [task("a"), task("b", "a")] })).body;
    expect((await call("POST", `/${id}/cancel`)).status).toBe(200);
    await until(id);
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "cancelled", counts: { cancelled: 2 } });
    expect((await call("POST", `/${id}/cancel`)).status).toBe(409);
  });

  test("A4, A5: can be seen, followed or cancelled by nobody else but an administrator", async () => {
    const { id } = (await call("POST", "/execute", { agent_id: "scribe", tasks: [task("a")] })).body;
    await until(id);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/tasks"],
      ["POST", "/cancel"],
    ] as const) {
      expect((await call(method, `/${id}${path}`, undefined, b)).status).toBe(404);
      expect((await call(method, `/${id}${path}`, undefined, admin)).status).toBe(method === "GET" ? 200 : 409);
    }
    expect((await call<{ items: unknown[] }>("GET", "", undefined, b)).body.items).toEqual([]);
    const own = (await call("POST", "/execute", { agent_id: "scribe", tasks: [task("mine")] }, b)).body.id;
    const seen = await framesUntil(
      framesOf(server, "/v1/events/stream?after=0", b.token),
      ({ data }) => data["kind"] === "swarm_complete",
    );
    expect(seen.filter(({ data }) => data["swarm_id"] === own).length).toBeGreaterThan(0);
    expect(JSON.stringify(seen)).not.toContain(id);
    expect(await tasksOf(own, b)).toHaveLength(1);
  });
});
