import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { makeSlowAgent, SLOW, slowAgentScript } from "../../testing/slow-agent.ts";
import type { SpawnedExecution } from "./model.ts";

const slow = slowAgentScript();
let server: TestServer;
let a: Account;
let b: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", ...slow.env } });
  const admin = await setupAdmin(server);
  await makeSlowAgent(server, admin.token);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(async () => {
  await server.remove();
  slow.remove();
});

const call = <T = SpawnedExecution>(method: string, path: string, body?: object, who = a) =>
  server.request<T>(method, `/v1/spawn-executor${path}`, { body, token: who.token });

/** Reads the session's events until one of that kind. */
async function until(session: string, kind: string): Promise<void> {
  const stream = await fetch(`${server.url}/v1/events/stream?session_id=${session}`, {
    headers: { Authorization: `Bearer ${a.token}` },
  });
  let text = "";
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(`event: ${kind}`)) return;
  }
}

describe("a spawned execution", () => {
  test("does its piece of work and keeps the result", async () => {
    const made = await call("POST", "/execute", { agent_id: "scribe", prompt: "Look around" });
    expect(made.status).toBe(202);
    expect(made.headers.get("location")).toBe(`/v1/spawn-executor/${made.body.id}`);
    expect(made.body).toMatchObject({ agent_id: "scribe", prompt: "Look around", error: null, finished_at: null });
    expect(made.body.id).toStartWith("spn_");
    await until(made.body.session_id, "session_ended");
    const done = (await call("GET", `/${made.body.id}`)).body;
    expect(done).toMatchObject({ status: "succeeded", cost_usd: 0, model: "demo/scripted" });
    expect(done.output).not.toBeNull();
    expect(done.tokens).toBeGreaterThan(0);
    expect(await call("POST", `/${made.body.id}/cancel`)).toMatchObject({ status: 409 });
    const list = await call<{ items: SpawnedExecution[] }>("GET", "");
    expect(list.body.items.map(({ id }) => id)).toContain(made.body.id);
  });

  test("is cancelled while it waits or works", async () => {
    const { id, session_id } = (await call("POST", "/execute", { agent_id: SLOW, prompt: "Look" })).body;
    expect((await call("POST", `/${id}/cancel`)).status).toBe(200);
    await until(session_id, "session_ended");
    expect((await call("GET", `/${id}`)).body.status).toBe("cancelled");
  });

  test("is refused for what does not exist, and others can neither see nor cancel it", async () => {
    expect((await call("POST", "/execute", { agent_id: "nobody-here", prompt: "x" })).status).toBe(404);
    for (const wrong of [
      { prompt: "" },
      { project_id: "proj_none" },
      { task_id: "task_none" },
      { model: "no/model" },
      { branch: "main" },
    ])
      expect((await call("POST", "/execute", { agent_id: "scribe", prompt: "x", ...wrong })).status).toBe(422);
    const { id } = (await call("POST", "/execute", { agent_id: "scribe", prompt: "Look" })).body;
    expect((await call("GET", `/${id}`, undefined, b)).status).toBe(404);
    expect((await call("POST", `/${id}/cancel`, undefined, b)).status).toBe(404);
    expect((await call<{ items: unknown[] }>("GET", "", undefined, b)).body.items).toEqual([]);
  });
});
