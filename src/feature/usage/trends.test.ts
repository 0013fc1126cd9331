/** Cost by day and key, and how runs ended, from the sums that the database keeps. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { DAY_MS, systemClock } from "../../core/clock.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { openStore, type Store } from "../../store/store.ts";
import type { LlmCallRecord } from "./model.ts";
import { createUsageLog, type UsageLog } from "./service.ts";
import { createUsageTrends, type UsageTrends } from "./trends.ts";

let store: Store;
let usage: UsageLog;
let trends: UsageTrends;
let now: number;
beforeEach(() => {
  now = Date.parse("2026-03-01T10:00:00Z");
  const clock = { now: () => now, monotonic: systemClock.monotonic };
  store = openStore({ path: ":memory:", clock });
  usage = createUsageLog({ store, clock, onRecorded: [] });
  trends = createUsageTrends(store);
});
afterEach(() => store.close());

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
const PERIOD = { from: day("2026-03-01"), to: day("2026-03-04"), userId: undefined };
const NONE = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
const spend = (model: string, cost_usd: number | null, more: Partial<LlmCallRecord> = {}) =>
  usage.record({
    agentId: "ann",
    reply: {
      provider: "demo",
      model,
      key_source: "none",
      usage: NONE,
      cost_usd,
      cost_source: "table",
      duration_ms: 1,
      time_to_first_token_ms: null,
      attempts: 1,
      finish: "stop",
    },
    ...more,
  });

const RUN = `INSERT INTO runs (id, pipeline_id, definition_id, task_description, status, created_by, created_at)
  VALUES (?, 'p', 'd', 'Work.', 'running', ?, '2026-03-01T00:00:00.000Z')`;
const start = (id: string, user: string | null = null) => void store.sqlite.prepare(RUN).run(id, user);
const end = (id: string, status: string, at: string | null, cost = 0) =>
  void store.sqlite
    .prepare("UPDATE runs SET status = ?, finished_at = ?, cost_nano = ? WHERE id = ?")
    .run(status, at === null ? null : `${at}T12:00:00.000Z`, cost * 1e9, id);

test("every day has its spend by model, dearest model first, and days without a call are there", () => {
  spend("m/dear", 2);
  spend("m/cheap", 0.5);
  now += 2 * DAY_MS;
  spend("m/cheap", 0.25);
  spend("m/free", null);
  const { series, items } = trends.read("model", PERIOD, LOCAL_ADMIN);
  expect(series.map(({ key, cost_usd, calls_without_price }) => [key, cost_usd, calls_without_price])).toEqual([
    ["m/dear", 2, 0],
    ["m/cheap", 0.75, 0],
    ["m/free", 0, 1],
  ]);
  expect(items.map(({ start_at, cost_usd, costs_usd }) => [start_at.slice(0, 10), cost_usd, costs_usd])).toEqual([
    ["2026-03-01", 2.5, [2, 0.5, 0]],
    ["2026-03-02", 0, [0, 0, 0]],
    ["2026-03-03", 0.25, [0, 0.25, 0]],
  ]);
});

test("the eight dearest are listed, the rest is one sum, and no cent is lost", () => {
  for (let at = 1; at <= 20; at++) spend(`m/${at}`, at, { agentId: `a${at}` });
  for (const by of ["model", "agent"] as const) {
    const { series, items } = trends.read(by, PERIOD, LOCAL_ADMIN);
    expect(series.map(({ cost_usd }) => cost_usd)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 78]);
    expect(series.map(({ others }) => others)).toEqual([...Array.from({ length: 8 }, () => false), true]);
    expect(items[0]).toMatchObject({ cost_usd: 210, calls: 20 });
  }
});

test("projects are named; calls without one, and those of a deleted one, have none", () => {
  store.sqlite
    .prepare(
      `INSERT INTO projects (id, name, description, status, workspace_state, created_at, updated_at)
       VALUES ('proj_1', 'shop', '', 'active', 'none', ?, ?)`,
    )
    .run("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z");
  spend("m/a", 3, { projectId: "proj_1" });
  spend("m/a", 2, { projectId: "proj_gone" });
  spend("m/a", 1);
  const { series } = trends.read("project", PERIOD, LOCAL_ADMIN);
  expect(series.map(({ key, name, cost_usd }) => [key, name, cost_usd])).toEqual([
    ["proj_1", "shop", 3],
    ["proj_gone", null, 2],
    ["", null, 1],
  ]);
});

test("a user's trend holds their calls and runs alone", () => {
  spend("m/a", 3, { userId: "usr_a" });
  spend("m/a", 4, { userId: "usr_b" });
  start("run_a", "usr_a");
  end("run_a", "succeeded", "2026-03-01", 3);
  start("run_b", "usr_b");
  end("run_b", "failed", "2026-03-01", 4);
  const { series, runs } = trends.read("model", { ...PERIOD, userId: "usr_a" }, LOCAL_ADMIN);
  expect([series[0]?.cost_usd, runs.succeeded, runs.failed, runs.per_success_usd]).toEqual([3, 1, 0, 3]);
});

test("a run counts on the day it ended, as it ended last; what failed runs cost is in the price of a success", () => {
  for (const id of ["run_1", "run_2", "run_3"]) start(id);
  end("run_1", "succeeded", "2026-03-01", 1);
  end("run_2", "failed", "2026-03-01", 2);
  end("run_3", "cancelled", "2026-03-02");
  const outcomes = () =>
    trends
      .read("model", PERIOD, LOCAL_ADMIN)
      .items.map(({ runs }) => [runs.succeeded, runs.failed, runs.cancelled, runs.cost_usd]);
  expect(outcomes()).toEqual([
    [1, 1, 0, 3],
    [0, 0, 1, 0],
    [0, 0, 0, 0],
  ]);
  // A restarted run has not ended.
  end("run_2", "running", null, 2.5);
  expect(outcomes()[0]).toEqual([1, 0, 0, 1]);
  end("run_2", "succeeded", "2026-03-03", 5);
  expect(outcomes()[2]).toEqual([1, 0, 0, 5]);
  expect(trends.read("model", PERIOD, LOCAL_ADMIN).runs).toMatchObject({
    succeeded: 2,
    failed: 0,
    cancelled: 1,
    per_success_usd: 3,
  });
  // Removed runs stay in the counts, and so do their calls.
  store.sqlite.prepare("DELETE FROM runs").run();
  expect(trends.read("model", PERIOD, LOCAL_ADMIN).runs.succeeded).toBe(2);
});

test("without a run that succeeded there is no price of one", () => {
  expect(trends.read("agent", PERIOD, LOCAL_ADMIN)).toMatchObject({ series: [], runs: { per_success_usd: null } });
});
