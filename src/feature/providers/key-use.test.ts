/** Whose key a run's model calls use, who is billed, and who is notified when a key is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../testing/accounts.ts";
import {
  DONE,
  type EndedRun,
  type MeteredServer,
  SHARED_KEY,
  startMeteredServer,
} from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";
import type { LlmCall, Totals } from "../usage/model.ts";

const OWN = "sk-personal-key-of-the-user";
const PATH = "/v1/settings/user-providers/custom-lab";
let metered: MeteredServer;
let pipeline: string;
beforeAll(async () => {
  metered = await startMeteredServer();
  pipeline = await metered.pipeline();
});
afterAll(() => metered.remove());
beforeEach(() => {
  metered.models.requests.length = 0;
});

const usage = { input: 1_200, output: 1_000, cacheRead: 200, reasoning: 50 };
/** Scripts two turns: a tool call and the end. */
const twoTurns = () =>
  metered.models.next(reply({ toolCalls: [{ name: "ls", input: { path: "." } }], usage }), reply({ ...DONE, usage }));
const keysSent = () => metered.models.requests.map(({ headers }) => headers["authorization"]);
const callsOf = async (run: EndedRun, who: Account) =>
  (await metered.call<{ items: LlmCall[] }>("GET", `/v1/llm-calls?run_id=${run.id}`, undefined, who)).body.items;
const notices = async (who: Account) =>
  (
    await metered.call<{ items: { id: string; title: string; detail: string }[] }>(
      "GET",
      "/v1/admin/notifications",
      undefined,
      who,
    )
  ).body.items;

describe("a run", () => {
  test("calls with its starter's own key in every turn, and is billed to that user alone", async () => {
    const { user, admin } = metered;
    await metered.call("PUT", PATH, { api_key: OWN }, user);
    twoTurns();
    const run = await metered.run(pipeline, user);
    expect(run).toMatchObject({ status: "succeeded", cost_usd: 0.2 });
    expect(keysSent()).toEqual([`Bearer ${OWN}`, `Bearer ${OWN}`]);
    const calls = await callsOf(run, user);
    expect(calls.map((call) => [call.user_id, call.key_source])).toEqual([
      [user.id, "user"],
      [user.id, "user"],
    ]);
    const readCost = async (who: Account) =>
      (await metered.call<{ totals: Totals }>("GET", "/v1/usage", undefined, who)).body.totals.cost_usd;
    expect([await readCost(user), await readCost(admin)]).toEqual([0.2, 0]);
    twoTurns();
    metered.models.requests.length = 0;
    const other = await metered.run(pipeline, admin);
    expect(keysSent()).toEqual([`Bearer ${SHARED_KEY}`, `Bearer ${SHARED_KEY}`]);
    expect((await callsOf(other, admin)).map((call) => [call.user_id, call.key_source])).toEqual([
      [admin.id, "instance"],
      [admin.id, "instance"],
    ]);
    const lastUse = async (id: string) =>
      (await metered.call("GET", `/v1/settings/providers/${id}`, undefined, admin)).body["last_used_on"];
    const { items } = (await metered.call<{ items: LlmCall[] }>("GET", "/v1/llm-calls?limit=1", undefined, admin)).body;
    expect([await lastUse("custom-lab"), await lastUse("anthropic")]).toEqual([
      items[0]!.created_at.slice(0, 10),
      null,
    ]);
  });

  test("emits an event for each call as it is logged: tokens, cost, model, whose key, and where it belongs", async () => {
    twoTurns();
    const { user } = metered;
    const run = await metered.run(pipeline, user);
    const events = run.events.filter(({ kind }) => kind === "llm_call");
    const calls = (await callsOf(run, user)).reverse();
    expect(calls).toHaveLength(2);
    for (const [at, event] of events.entries()) {
      const { run_id, step_id, session_id, agent_id, project_id, user_id, ...data } = calls[at]!;
      expect(event.data).toEqual(data);
      expect(event).toMatchObject({ run_id, step_id, session_id, agent_id });
      expect([project_id, user_id]).toEqual([null, user.id]);
    }
    expect(events[0]?.data).toMatchObject({
      provider: "custom-lab",
      model: "custom-lab/m",
      key_source: "user",
      input_tokens: 1_200,
      output_tokens: 1_000,
      cache_read_tokens: 200,
      reasoning_tokens: 50,
      cost_usd: 0.1,
      cost_source: "table",
      finish_reason: "tool_calls",
      attempts: 1,
      error: null,
    });
    expect(JSON.stringify(run.events)).not.toContain(OWN);
  });

  test("goes back to the instance's key once the user's own is removed, in the middle of a run too", async () => {
    const { user, models } = metered;
    models.next(
      { kind: "reply", reply: { toolCalls: [{ name: "ls", input: { path: "." } }], usage }, firstTokenMs: 150 },
      reply({ ...DONE, usage }),
    );
    const running = metered.run(pipeline, user);
    while (models.requests.length === 0) await Bun.sleep(2);
    expect((await metered.call("DELETE", PATH, undefined, user)).status).toBe(204);
    expect((await running).status).toBe("succeeded");
    expect(keysSent()).toEqual([`Bearer ${OWN}`, `Bearer ${SHARED_KEY}`]);
  });
});

describe("a key that the provider refuses", () => {
  const REFUSED = { kind: "status", status: 401, body: { error: { message: "bad key {{key}}" } } } as const;
  const TITLE = "custom-lab refuses the key";

  test("of a user fails the run, and the user is notified; nobody else is", async () => {
    const { user, admin, models } = metered;
    await metered.call("PUT", PATH, { api_key: OWN }, user);
    models.next(REFUSED);
    const run = await metered.run(pipeline, user);
    expect(run).toMatchObject({ status: "failed", cost_usd: 0, error: { code: "provider_auth" } });
    expect(await callsOf(run, user)).toMatchObject([{ error: { code: "provider_auth" }, cost_usd: 0 }]);
    expect((await notices(user)).map(({ title }) => title)).toEqual([TITLE]);
    expect((await notices(admin)).map(({ title }) => title)).toEqual([]);
    expect(JSON.stringify([run, await notices(user)])).not.toContain(OWN);
  });

  test("is forgotten after the next call that succeeds, and with a new key", async () => {
    const { user, models } = metered;
    twoTurns();
    await metered.run(pipeline, user);
    expect(await notices(user)).toEqual([]);
    models.next(REFUSED);
    await metered.run(pipeline, user);
    expect(await notices(user)).toHaveLength(1);
    await metered.call("PUT", PATH, { api_key: `${OWN}-new` }, user);
    expect(await notices(user)).toEqual([]);
  });

  test("of the instance is reported to administrators", async () => {
    const { user, admin, models } = metered;
    await metered.call("DELETE", PATH, undefined, user);
    models.next(REFUSED);
    await metered.run(pipeline, user);
    const [notice, ...more] = await notices(admin);
    expect([notice?.title, more]).toEqual([TITLE, []]);
    expect(await notices(user)).toEqual([]);
    const dismiss = (who: Account) =>
      metered.call("POST", `/v1/admin/notifications/${notice?.id}/dismiss`, undefined, who);
    expect((await dismiss(user)).status).toBe(404);
    const first = await dismiss(admin);
    expect(first.body["dismissed_at"]).toBeString();
    expect(await dismiss(admin)).toMatchObject({ status: 200, body: first.body });
    expect(await notices(admin)).toEqual([]);
    // A dismissed notification stays quiet while its cause lasts.
    models.next(REFUSED);
    await metered.run(pipeline, user);
    expect(await notices(admin)).toEqual([]);
  });
});

test("a provider without a key that asks for one is reported so, until a call without one succeeds", async () => {
  const { admin, models } = metered;
  await metered.call("PUT", "/v1/settings/providers/custom-open", {
    base_url: `${models.origin}/v1`,
    models: [{ id: "m", context_window: 200_000 }],
  });
  const open = await metered.pipeline(undefined, { model: "custom-open/m" });
  models.next({ kind: "status", status: 401, body: { error: { message: "no key" } } });
  const run = await metered.run(open);
  expect(run.error?.message).toContain("Store one: skep providers set custom-open --key");
  const ofOpen = async () => (await notices(admin)).filter(({ title }) => title.startsWith("custom-open"));
  expect(await ofOpen()).toMatchObject([
    { title: "custom-open asks for a key", detail: expect.stringContaining("skep providers set custom-open --key") },
  ]);
  models.next(reply(DONE));
  expect((await metered.run(open)).status).toBe("succeeded");
  expect(await ofOpen()).toEqual([]);
});

test("a provider that says the prompt is too long is asked again with less", async () => {
  const { models, admin } = metered;
  const long = {
    kind: "status",
    status: 400,
    body: { error: { message: "maximum context length is 8192 tokens" } },
  } as const;
  models.next(
    reply({ toolCalls: [{ name: "ls", input: { path: "." } }], usage }),
    long,
    long,
    reply({ ...DONE, usage }),
  );
  const run = await metered.run(pipeline, admin);
  // The model is asked again with shorter outputs, then for a summary, then with that summary; each call is logged.
  expect(run.status).toBe("succeeded");
  const calls = (await callsOf(run, admin)).reverse();
  expect(calls.slice(0, 3).map(({ error }) => error?.code ?? null)).toEqual([
    null,
    "context_too_long",
    "context_too_long",
  ]);
  expect(calls.at(-1)?.purpose).toBe("turn");
  expect(calls.length).toBe(models.requests.length);
});
