/** A26: the token of an execution opens what its own agent may, while it runs, and nothing else. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, setupAdmin } from "../accounts.ts";
import { countRows } from "../row-counts.ts";
import { startServer, type TestServer } from "../server.ts";
import { createHeldRun, type HeldRun, HOLD_STEP } from "./held-run.ts";
import { waitFor } from "./waiting.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

interface Document {
  paths: Record<string, Record<string, { "x-access": string; "x-execution": boolean }>>;
}

const folder = mkdtempSync(join(tmpdir(), "skep-execution-"));
let server: TestServer;
let admin: Account;
let ann: HeldRun;
let bob: HeldRun;
const envOf = (agent: string, token: string) =>
  server.request<Record<string, string>>("GET", `/v1/secrets/agents/${agent}/env`, { token });

beforeAll(async () => {
  writeFileSync(join(folder, "script.json"), JSON.stringify({ version: 1, steps: HOLD_STEP }));
  const script = { DEMO_SCRIPT: join(folder, "script.json"), ALLOW_HOST_SHELL: "true" };
  server = await startServer({
    env: { AUTH_ENABLED: "true", ENGINE_INTERNAL_TOKEN: "engine-token-engine-token", ...script },
  });
  admin = await setupAdmin(server);
  for (const agent of ["ann", "bob"]) {
    const held = await createHeldRun(server, admin.token, agent);
    if (agent === "ann") ann = held;
    else bob = held;
    const name = `OF_${agent.toUpperCase()}`;
    const body = { name, value: `value-of-${agent}`, secret_type: "token" };
    const secret = await server.request("POST", "/v1/secrets", { token: admin.token, body });
    await server.request("POST", `/v1/secrets/${secret.body["id"]}/grant/${agent}`, { token: admin.token });
  }
}, 300_000);
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe("A26: the token of a running execution", () => {
  test("reads its own agent's environment, and nobody else's", async () => {
    expect(ann.token).not.toBe(bob.token);
    const own = await envOf("ann", ann.token);
    expect([own.status, own.body, own.headers.get("cache-control")]).toEqual([
      200,
      { OF_ANN: "value-of-ann" },
      "no-store",
    ]);
    expect((await envOf("bob", bob.token)).body).toEqual({ OF_BOB: "value-of-bob" });
    for (const agent of ["bob", "BOB", "ann/../bob", "ann%2f..%2fbob", "bob ", "%62ob", "shared", "*", "no-such"]) {
      const other = await envOf(agent, ann.token);
      expect([agent, other.status >= 400, JSON.stringify(other.body).includes("value-of-")]).toEqual([
        agent,
        true,
        false,
      ]);
    }
    expect((await envOf("bob", ann.token)).status).toBe(403);
  });

  test("is refused on every operation that does not say otherwise, and nothing is written", async () => {
    const { body: document } = await server.request<Document>("GET", "/openapi.json");
    const before = countRows(server.data);
    let refused = 0;
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(item)) {
        if (operation["x-access"] === "public" || operation["x-execution"]) continue;
        const filled = path
          .replace(/\{(agent_id|name)\}/g, "ann")
          .replace(/\{(run_)?id\}/g, ann.id)
          .replace(/\{\w+\}/g, "x");
        const options = { token: ann.token, ...(method === "get" || method === "delete" ? {} : { body: {} }) };
        const { status } = await server.request(method.toUpperCase(), filled, options);
        expect([method, path, status]).toEqual([method, path, 403]);
        refused++;
      }
    expect(refused).toBeGreaterThan(80);
    const { executions: _executions, messages: _messages, tool_calls: _calls, ...after } = countRows(server.data);
    const { executions: _e, messages: _m, tool_calls: _c, ...was } = before;
    expect(after).toEqual(was);
  });

  test("on the operations that let it in is limited to its own agent", async () => {
    const other = await server.request("GET", "/v1/skills?agent_id=bob", { token: ann.token });
    expect(other.status).toBe(403);
    expect((await server.request("GET", "/v1/skills/x?agent_id=bob", { token: ann.token })).status).toBe(403);
    const history = await server.request<{ items: { run_id: string }[] }>(
      "GET",
      "/v1/internal/run-history?status=running",
      { token: ann.token },
    );
    expect([history.status, history.body.items.map(({ run_id }) => run_id)]).toEqual([200, [ann.id]]);
    const others = await server.request("GET", "/v1/internal/run-history?agent_id=bob", { token: ann.token });
    expect(others.status).toBe(403);
    const own = await server.request("GET", "/v1/internal/run-history?agent_id=ann", { token: ann.token });
    expect(own.status).toBe(200);
  });

  test("works in no other header or cookie, nor in part, nor altered", async () => {
    const { token } = ann;
    const header = (value: string) => ({ headers: { Authorization: value } });
    for (const value of [
      token.slice(0, -1),
      `${token}x`,
      token.toUpperCase(),
      token.replace("skepx_", ""),
      "skepx_",
      `${token},${bob.token}`,
    ])
      expect([value.length, (await server.request("GET", "/v1/skills", header(`Bearer ${value}`))).status]).toEqual([
        value.length,
        401,
      ]);
    expect(
      (await server.request("GET", `/v1/skills?token=${token}&ticket=${token}&access_token=${token}`)).status,
    ).toBe(401);
    for (const name of ["skep_session", "session", "token"])
      expect((await server.request("GET", "/v1/skills", { headers: { Cookie: `${name}=${token}` } })).status).toBe(401);
  });

  test("is dead when its execution has ended, and when it was cancelled; the other's lives on", async () => {
    await ann.release();
    expect((await server.request("GET", "/v1/skills", { token: ann.token })).status).toBe(401);
    const env = await envOf("ann", ann.token);
    expect([env.status, JSON.stringify(env.body).includes("value-of-")]).toEqual([403, false]);
    expect((await envOf("bob", bob.token)).status).toBe(200);
    await server.request("POST", `/v1/runs/${bob.id}/cancel`, { token: admin.token });
    await waitFor(async () => (await envOf("bob", bob.token)).status === 403, "the end of its token");
  });
});
