import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { DEFAULT_SETTINGS, Settings, SettingsUpdate } from "./model.ts";

let server: TestServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(() => server.remove());

const get = () => server.request<Settings>("GET", "/v1/settings", { token: admin.token });
const put = (body: unknown, headers: Record<string, string> = {}) =>
  server.request("PUT", "/v1/settings", { token: admin.token, body, headers });
/** Sends a body as it is written, for values that JSON.stringify would leave out. */
const putText = (body: string) => put(body, { "Content-Type": "application/json" });

describe("settings", () => {
  test("the defaults are of the schema, and whole from the start", async () => {
    expect(Value.Check(Settings, DEFAULT_SETTINGS)).toBe(true);
    expect((await get()).body).toEqual(DEFAULT_SETTINGS);
  });

  test("only what is sent changes and null puts a field back to its default", async () => {
    await put({ budgets: { user_per_day_usd: 5, run_usd: 1 }, models: { default: "ollama/qwen3" } });
    const after = await put({ budgets: { run_usd: null }, sandbox: { memory_mb: 2048 } });
    expect(after.status).toBe(200);
    const wanted = structuredClone(DEFAULT_SETTINGS);
    wanted.budgets.user_per_day_usd = 5;
    wanted.models.default = "ollama/qwen3";
    wanted.sandbox.memory_mb = 2048;
    expect(after.body).toEqual(wanted);
    expect((await put({ models: { default: null }, budgets: { user_per_day_usd: null } })).status).toBe(200);
  });

  test.each([
    ["an unknown group", { colour: {} }, "/colour"],
    ["an unknown field", { limits: { max_turn: 3 } }, "/limits/max_turn"],
    ["a number as text", { limits: { max_turns: "3" } }, "/limits/max_turns"],
    ["a truth value as text", { updates: { check: "false" } }, "/updates/check"],
    ["a fraction of a turn", { limits: { max_turns: 1.5 } }, "/limits/max_turns"],
    ["below the least", { sandbox: { memory_mb: 1 } }, "/sandbox/memory_mb"],
    ["a negative budget", { budgets: { run_usd: -1 } }, "/budgets/run_usd"],
    ["another word", { sandbox: { network: "host" } }, "/sandbox/network"],
    ["a model without its provider", { models: { chat: "gpt" } }, "/models/chat"],
    ["a model of a provider that does not exist", { models: { default: "nope/x" } }, "/models/default"],
    ["a list for a group", { limits: [] }, "/limits"],
    ["a list", [], "/"],
    ["null", null, "/"],
  ])("%s is refused, named, and nothing changes", async (_what, body, pointer) => {
    const before = (await get()).body;
    const refused = await put(body);
    expect([refused.status, (refused.body["errors"] as { pointer: string }[])[0]?.pointer]).toEqual([422, pointer]);
    const mixed = await put({ budgets: { instance_per_day_usd: 3 }, ...(body as object) });
    if (body !== null && !Array.isArray(body)) expect(mixed.status).toBe(422);
    expect((await get()).body.limits).toEqual(before.limits);
    await put({ budgets: { instance_per_day_usd: null } });
  });

  test("what is not JSON is 400", async () => {
    expect((await putText("{")).status).toBe(400);
  });

  test("A30: names that reach into prototypes are refused and reach nothing", async () => {
    for (const body of [
      '{"__proto__":{"limits":{"max_turns":7}}}',
      '{"limits":{"__proto__":{"max_turns":7}}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"limits":{"constructor":{"prototype":{"polluted":1}}}}',
      '{"__proto__.polluted":1}',
    ]) {
      const refused = await putText(body);
      expect([body, refused.status]).toEqual([body, 422]);
    }
    expect((await get()).body.limits.max_turns).toBe(DEFAULT_SETTINGS.limits.max_turns);
    const status = await server.request("GET", "/v1/status", { token: admin.token });
    expect("polluted" in status.body).toBe(false);
    expect(Object.keys(SettingsUpdate.properties)).toEqual(Object.keys(DEFAULT_SETTINGS));
  });

  test("If-Match that no longer holds is 412; one that does goes through once", async () => {
    const tag = (await get()).headers.get("etag")!;
    const [first, second] = [
      await put({ limits: { max_attempts: 3 } }, { "If-Match": tag }),
      await put({ limits: { max_attempts: 4 } }, { "If-Match": tag }),
    ];
    expect([first.status, second.status]).toEqual([200, 412]);
    expect((await get()).body.limits.max_attempts).toBe(3);
  });

  test("only administrators read or change them, and a change is audited without its values", async () => {
    for (const method of ["GET", "PUT"]) {
      expect((await server.request(method, "/v1/settings", { body: undefined })).status).toBe(401);
      expect((await server.request(method, "/v1/settings", { token: user.token })).status).toBe(403);
    }
    await put({ models: { summary: "openai/audited-model" } });
    const audit = await server.request<{ items: { action: string; data: unknown }[] }>("GET", "/v1/admin/audit", {
      token: admin.token,
    });
    const row = audit.body.items.find((item) => item.action === "settings.updated");
    expect(row?.data).toEqual({ changed: ["models.summary"] });
  });
});
