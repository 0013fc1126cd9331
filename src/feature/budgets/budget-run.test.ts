/** Budgets in real runs: the server, its engine, and a model with a price. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { steadyDay } from "../../testing/busy-machine.ts";
import { DONE, type EndedRun, type MeteredServer, startMeteredServer } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";
import type { LlmCall } from "../usage/model.ts";

let metered: MeteredServer;
beforeAll(async () => {
  metered = await startMeteredServer();
});
afterAll(() => metered.remove());

const usage = { input: 1_000, output: 1_000 };
/** The reply of an agent that never stops, at $0.1 per turn. */
const ENDLESS = reply({ toolCalls: [{ name: "ls", input: { path: "." } }], usage });
beforeEach(async () => {
  await steadyDay();
  metered.models.requests.length = 0;
  metered.models.next(ENDLESS);
});

const settings = (budgets: Record<string, unknown>) => metered.call("PUT", "/v1/settings", { budgets });
const callsOf = async (run: EndedRun) =>
  (await metered.call<{ items: LlmCall[] }>("GET", `/v1/llm-calls?run_id=${run.id}&limit=200`)).body.items;
const eventsOf = (run: EndedRun, kind: string) => run.events.filter((event) => event.kind === kind);

describe("a run stops before the call that would pass", () => {
  test.each([
    ["its pipeline's budget", "run", { defaults: { budget_usd: 1 } }],
    ["its own budget", "run", { run: { budget_usd: 1 } }],
    ["its agent's budget of a run", "agent_run", { agent: { budget_usd_per_run: 1 } }],
    ["its agent's budget of a day", "agent_day", { agent: { budget_usd_per_day: 1 } }],
    ["the settings' budget of a run", "run", { settings: { run_usd: 1 } }],
    ["the settings' budget of an agent in a run", "agent_run", { settings: { agent_per_run_usd: 1 } }],
    ["its user's budget of a day", "user_day", { settings: { user_per_day_usd: 1 } }],
  ] as const)("%s", async (_what, scope, given: Given) => {
    const { user } = metered;
    // Each case has its own user, for whom no other case has spent anything.
    const pipeline = await metered.pipeline(given.defaults, given.agent);
    if (given.settings) await settings(given.settings);
    const spentBefore = scope === "user_day" ? await spentBy(user.id) : 0;
    if (spentBefore > 0) await settings({ user_per_day_usd: spentBefore + 1 });
    const run = await metered.run(pipeline, user, given.run);
    if (given.settings) await settings(Object.fromEntries(Object.keys(given.settings).map((name) => [name, null])));
    expect(run).toMatchObject({ status: "failed", error: { code: "budget_exceeded", step_id: "work" } });
    expect(run.error?.message).toContain(`${scope} budget`);
    // Only the budget of a day resets, so only there does waiting help.
    expect(run.error?.message.includes("wait for its reset")).toBe(["agent_day", "user_day"].includes(scope));
    // A call is allowed as long as a reply of 4,096 tokens, $0.4096, still fits.
    const calls = await callsOf(run);
    expect(calls.map(({ cost_usd }) => cost_usd)).toEqual(Array(6).fill(0.1));
    expect(run.cost_usd).toBe(0.6);
    expect(metered.models.requests.length).toBe(6);
    // A reply is limited to the estimated number of tokens.
    expect(metered.models.requests.map(({ body }) => (body as { max_tokens?: number }).max_tokens)).toEqual(
      Array(6).fill(4_096),
    );
    const [exceeded] = eventsOf(run, "budget_exceeded");
    expect(exceeded?.data).toMatchObject({ scope, spent_usd: spentBefore + 0.6, limit_usd: spentBefore + 1 });
  });

  test("the budget of the instance, and continues when it is raised and the run restarted", async () => {
    const before = await spentBy("all");
    await settings({ instance_per_day_usd: before + 1 });
    const run = await metered.run(await metered.pipeline());
    expect(run.error).toMatchObject({ code: "budget_exceeded" });
    expect(run.error?.message).toContain("instance_day budget");
    expect(run.cost_usd).toBe(0.6);
    expect((await metered.run(await metered.pipeline())).cost_usd).toBe(0);
    await settings({ instance_per_day_usd: null });
    metered.models.next(reply({ ...DONE, usage }));
    expect((await metered.call("POST", `/v1/runs/${run.id}/restart`, {})).status).toBe(202);
    const { body } = await metered.server.request<string>("GET", `/v1/events/stream?run_id=${run.id}&after=0`, {
      token: metered.admin.token,
    });
    expect(body).toContain("event: run_complete");
  });

  test("however long the replies are, nothing is spent beyond the limit", async () => {
    metered.models.next(
      reply({ toolCalls: [{ name: "ls", input: { path: "." } }], usage: { input: 1_000, output: 4_096 } }),
    );
    const run = await metered.run(await metered.pipeline({ budget_usd: 1 }));
    expect(run.error?.code).toBe("budget_exceeded");
    expect(run.cost_usd).toBe(0.8192);
  });
});

describe("a budget", () => {
  test("with ample room leaves replies as long as they are", async () => {
    metered.models.next(reply({ ...DONE, usage }));
    const run = await metered.run(await metered.pipeline({ budget_usd: 50 }));
    expect(run).toMatchObject({ status: "succeeded", cost_usd: 0.1, budget_usd: 50 });
    expect("max_tokens" in (metered.models.requests[0]!.body as object)).toBe(false);
  });

  test("warns once at its mark, as an event of the run and a notification of its user", async () => {
    const { user } = metered;
    const run = await metered.run(await metered.pipeline({ budget_usd: 0.75 }), user);
    // A fifth call would not fit. The warning mark is at 80 %.
    expect(run.cost_usd).toBe(0.4);
    expect(eventsOf(run, "budget_warning")).toEqual([]);
    metered.models.next(
      reply({ toolCalls: [{ name: "ls", input: { path: "." } }], usage: { input: 1, output: 3_000 } }),
    );
    const second = await metered.run(await metered.pipeline({ budget_usd: 0.75 }), user);
    const [warning, ...more] = eventsOf(second, "budget_warning");
    expect(more).toEqual([]);
    expect(warning?.data).toMatchObject({ scope: "run", limit_usd: 0.75, spent_usd: 0.6, percent: 80 });
    const { body } = await metered.call<{ items: { title: string; level: string }[] }>(
      "GET",
      "/v1/admin/notifications",
      undefined,
      user,
    );
    const titles = body.items.map(({ title }) => title);
    expect(titles).toContain("Budget of a run is too small for the next call");
    expect(titles).toContain("Your daily budget is too small for the next call");
  });

  test("of a run's own may be smaller than its pipeline's, and larger for administrators only", async () => {
    const pipeline = await metered.pipeline({ budget_usd: 0.5 });
    const start = (budget_usd: number, who = metered.user) =>
      metered.call<{ errors: { pointer: string }[] }>(
        "POST",
        "/v1/runs",
        { pipeline_id: pipeline, task_description: "it", budget_usd },
        who,
      );
    const refused = await start(0.6);
    expect([refused.status, refused.body.errors[0]?.pointer]).toEqual([422, "/budget_usd"]);
    for (const bad of [0, -1, Number.NaN]) expect((await start(bad)).status).toBe(422);
    const smaller = await metered.run(pipeline, metered.user, { budget_usd: 0.45 });
    expect(smaller).toMatchObject({ budget_usd: 0.45, cost_usd: 0.1 });
    const larger = await metered.run(pipeline, metered.admin, { budget_usd: 0.85 });
    expect(larger).toMatchObject({ budget_usd: 0.85, cost_usd: 0.5 });
    const path = `/v1/runs/${smaller.id}/restart`;
    expect((await metered.call("POST", path, { budget_usd: 0.6 }, metered.user)).status).toBe(422);
    expect((await metered.call("POST", path, { budget_usd: 0.6 })).body["budget_usd"]).toBe(0.6);
  });

  test("that is used up ends no other run, and no retry is made of what it stopped", async () => {
    const pipeline = await metered.pipeline({ budget_usd: 0.5, max_attempts: 3 });
    const run = await metered.run(pipeline);
    expect(run.error?.code).toBe("budget_exceeded");
    expect(run.cost_usd).toBe(0.1);
    expect((await metered.run(pipeline)).cost_usd).toBe(0.1);
  });
});

interface Given {
  defaults?: Record<string, unknown>;
  agent?: Record<string, unknown>;
  run?: Record<string, unknown>;
  settings?: Record<string, number>;
}

/** What is logged today for a user, or for everybody. */
async function spentBy(userId: string): Promise<number> {
  const { body } = await metered.call<{ totals: { cost_usd: number } }>(
    "GET",
    `/v1/usage?user_id=${userId}&from=${new Date().toISOString().slice(0, 10)}`,
  );
  return body.totals.cost_usd;
}
