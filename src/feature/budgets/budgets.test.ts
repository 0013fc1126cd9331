import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { HOUR_MS, systemClock } from "../../core/clock.ts";
import { ADMINISTRATORS, type SkepEvent } from "../../core/events.ts";
import { openStore, type Store } from "../../store/store.ts";
import { DEFAULT_SETTINGS, type Settings } from "../settings/model.ts";
import { createUsageLog, type UsageLog } from "../usage/service.ts";
import type { OwnLimits, Spender } from "./scopes.ts";
import { type Budgets, createBudgets } from "./service.ts";

const USAGE = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
const SPENDER = { agentId: "engineer", runId: "run_1", sessionId: "sess_1", userId: "usr_1" } satisfies Spender;

let folder: string;
let store: Store;
let usage: UsageLog;
let budgets: Budgets;
let events: SkepEvent[];
let notices: { key: string; level: string; userId?: string | undefined }[];
let now: number;
let limits: Settings["budgets"];
let own: OwnLimits;

/** Opens the store and the service as a start of the server does. */
function open(): void {
  const clock = { now: () => now, monotonic: systemClock.monotonic };
  store = openStore({ path: join(folder, "skep.db"), clock });
  store.onCommit((written) => events.push(...written));
  budgets = createBudgets({
    store,
    clock,
    limits: () => limits,
    ownLimits: () => own,
    notify: (notice) => notices.push(notice),
  });
  usage = createUsageLog({ store, clock, onRecorded: [budgets.onModelCall] });
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skep-budgets-"));
  now = Date.parse("2026-02-28T22:00:00Z");
  limits = { ...DEFAULT_SETTINGS.budgets };
  own = {};
  events = [];
  notices = [];
  open();
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const check = (estimateUsd: number, spender: Spender = SPENDER) => budgets.check({ ...spender, estimateUsd });
function spend(cost_usd: number | null, { agentId = "engineer", ...spender }: Spender = SPENDER): void {
  usage.record({
    ...spender,
    agentId,
    reply: {
      provider: "openai",
      model: "openai/x",
      key_source: "instance",
      usage: USAGE,
      cost_usd,
      cost_source: cost_usd === null ? "unknown" : "table",
      duration_ms: 1,
      time_to_first_token_ms: null,
      attempts: 1,
      finish: "stop",
    },
  });
}
const kinds = () => events.map((event) => event.kind).filter((kind) => kind.startsWith("budget"));

describe("budgets", () => {
  test("without limits everything fits", () => {
    spend(1_000);
    expect(check(1_000)).toBeUndefined();
  });

  test("a call that is known to be free fits a budget of 0, and one that is used up", () => {
    limits.run_usd = 0;
    spend(0.5);
    expect(budgets.check({ ...SPENDER, estimateUsd: 0, isFree: true })).toBeUndefined();
    limits.run_usd = 0.5;
    expect(budgets.check({ ...SPENDER, estimateUsd: 0, isFree: true })).toBeUndefined();
    expect(budgets.check({ ...SPENDER, estimateUsd: 0 })).toMatchObject({ scope: "run" });
  });

  test("the call that would pass the limit is stopped before it is made; one that just fits is not", () => {
    limits.run_usd = 1;
    spend(0.7);
    expect(check(0.3)).toBeUndefined();
    expect(check(0.300_000_001)).toEqual({
      scope: "run",
      limitUsd: 1,
      spentUsd: 0.7,
      heldUsd: 0,
      resetsAt: null,
    });
    spend(0.3);
    expect(check(0)).toMatchObject({ scope: "run", spentUsd: 1 });
    expect(check(0.1, { ...SPENDER, runId: "run_2", sessionId: "sess_2" })).toBeUndefined();
  });

  test.each([
    ["agent_per_run_usd", "agent_run", { agentId: "other" }],
    ["run_usd", "run", { runId: "run_2" }],
    ["agent_per_day_usd", "agent_day", { agentId: "other" }],
    ["user_per_day_usd", "user_day", { userId: "usr_2" }],
    ["user_per_month_usd", "user_month", { userId: "usr_2" }],
  ] as const)("%s counts what is its own, and no other's", (limit, scope, other) => {
    limits[limit] = 1;
    spend(1);
    expect(check(0.1)?.scope).toBe(scope);
    expect(check(0.1, { ...SPENDER, ...other, sessionId: "sess_2" })).toBeUndefined();
    // The same applies to what calls under way hold.
    limits[limit] = 2;
    budgets.release("sess_2");
    expect(check(1, { ...SPENDER, ...other, sessionId: "sess_2" })).toBeUndefined();
    expect(check(1)).toBeUndefined();
    expect(check(0.1, { ...SPENDER, sessionId: "sess_3" })?.scope).toBe(scope);
  });

  test.each(["instance_per_day_usd", "instance_per_month_usd"] as const)("%s counts everybody", (limit) => {
    limits[limit] = 1;
    spend(0.6, { agentId: "a", userId: "usr_2", sessionId: "sess_2" });
    spend(0.6, { agentId: "b", sessionId: "sess_3" });
    expect(check(0)?.spentUsd).toBe(1.2);
  });

  test("days and months start over in UTC, and say when", () => {
    limits.user_per_day_usd = 1;
    limits.instance_per_month_usd = 1;
    spend(1);
    expect(check(0.1)).toMatchObject({ scope: "user_day", resetsAt: "2026-03-01T00:00:00.000Z" });
    now = Date.parse("2026-02-28T23:59:59.999Z");
    expect(check(0.1)?.scope).toBe("user_day");
    now = Date.parse("2026-03-01T00:00:00.000Z");
    expect(check(0.1)).toBeUndefined();
    budgets.release("sess_1");
    spend(1);
    now = Date.parse("2026-03-02T00:00:00.000Z");
    expect(check(0.1)).toMatchObject({ scope: "instance_month", resetsAt: "2026-04-01T00:00:00.000Z" });
  });

  test("an agent's and a run's own limits count before the settings'", () => {
    limits.run_usd = 100;
    own = { run: 1, agentPerDay: 2 };
    spend(1);
    expect(check(0.1)).toMatchObject({ scope: "run", limitUsd: 1 });
    own = { agentPerDay: 1 };
    expect(check(0.1)).toMatchObject({ scope: "agent_day", limitUsd: 1 });
  });

  test("outside a run, a session counts as a run of its own", () => {
    limits.run_usd = 1;
    const chat = { agentId: "engineer", sessionId: "sess_9" };
    spend(1, chat);
    expect(check(0.1, chat)?.scope).toBe("run");
    expect(check(0.1, { ...chat, sessionId: "sess_10" })).toBeUndefined();
  });

  test("many calls at once cannot pass a limit together", () => {
    limits.instance_per_day_usd = 1;
    const sessions = Array.from({ length: 20 }, (_, at) => ({ agentId: "a", sessionId: `sess_${at}` }));
    const through = sessions.filter((spender) => check(0.3, spender) === undefined);
    expect(through.length).toBe(3);
    spend(0.05, through[0]!);
    budgets.release(through[1]!.sessionId);
    expect(sessions.filter((spender) => check(0.3, spender) === undefined).length).toBe(3);
  });

  test("a call that was logged holds its estimate no longer", () => {
    limits.instance_per_day_usd = 1;
    expect(check(0.9)).toBeUndefined();
    expect(check(0.8, { agentId: "a", sessionId: "sess_2" })?.scope).toBe("instance_day");
    spend(0.1);
    expect(check(0.9, { agentId: "a", sessionId: "sess_2" })).toBeUndefined();
  });

  test("whatever was estimated and spent, in whatever order: nothing ever passes the limit when estimates hold", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            session: fc.integer({ min: 0, max: 5 }),
            cents: fc.integer({ min: 1, max: 60 }),
            part: fc.double({ min: 0, max: 1, noNaN: true }),
          }),
          { maxLength: 60 },
        ),
        (steps) => {
          const scope = `usr_${events.length}_${Math.random()}`;
          limits.user_per_month_usd = 1;
          const open = new Map<number, number>();
          let spent = 0;
          for (const { session, cents, part } of steps) {
            const spender = { agentId: "a", userId: scope, sessionId: `${scope}_${session}` };
            const held = open.get(session);
            if (held !== undefined) {
              const nano = Math.floor(held * part * 1e7);
              spend(nano / 1e9, spender);
              spent += nano;
              open.delete(session);
            } else if (check(cents / 100, spender) === undefined) open.set(session, cents);
            expect(spent).toBeLessThanOrEqual(1e9);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  test("a limit of zero lets through what costs nothing, and nothing else", () => {
    limits.instance_per_day_usd = 0;
    expect(check(0)).toBeUndefined();
    expect(check(0.000_000_001)?.scope).toBe("instance_day");
  });

  test("the warning comes once a period, at the mark; the stop once a session; also after a restart", () => {
    limits.user_per_day_usd = 1;
    spend(0.79);
    expect(kinds()).toEqual([]);
    spend(0.01);
    spend(0.01);
    expect(kinds()).toEqual(["budget_warning"]);
    expect(events.find((event) => event.kind === "budget_warning")).toMatchObject({
      user_id: "usr_1",
      run_id: "run_1",
      data: { scope: "user_day", limit_usd: 1, spent_usd: 0.8, percent: 80, resets_at: "2026-03-01T00:00:00.000Z" },
    });
    store.close();
    open();
    spend(0.01);
    expect(check(0.5)?.spentUsd).toBe(0.82);
    check(0.5);
    expect(kinds()).toEqual(["budget_warning", "budget_exceeded"]);
    check(0.5, { ...SPENDER, sessionId: "sess_2" });
    expect(kinds()).toEqual(["budget_warning", "budget_exceeded", "budget_exceeded"]);
    now += 24 * HOUR_MS;
    spend(0.9);
    expect(kinds().filter((kind) => kind === "budget_warning").length).toBe(2);
    // A changed limit warns again.
    limits.user_per_day_usd = 1.1;
    spend(0.01);
    expect(kinds().filter((kind) => kind === "budget_warning").length).toBe(3);
  });

  test("users are notified of their own budgets, administrators of the instance's", () => {
    limits.user_per_day_usd = 1;
    limits.instance_per_day_usd = 1;
    spend(0.9);
    expect(events.filter((event) => event.kind === "budget_warning").map((event) => event.user_id)).toEqual([
      "usr_1",
      ADMINISTRATORS,
    ]);
    expect(notices.map((notice) => [notice.key.split(":")[1], notice.userId])).toEqual([
      ["user_day", "usr_1"],
      ["instance_day", undefined],
    ]);
  });

  test("the state says what is left", () => {
    limits.user_per_month_usd = 2;
    limits.instance_per_day_usd = 1;
    spend(0.5);
    expect(budgets.states("usr_1")).toEqual([
      {
        scope: "user_month",
        limit_usd: 2,
        spent_usd: 0.5,
        remaining_usd: 1.5,
        percent: 25,
        resets_at: "2026-03-01T00:00:00.000Z",
      },
      {
        scope: "instance_day",
        limit_usd: 1,
        spent_usd: 0.5,
        remaining_usd: 0.5,
        percent: 50,
        resets_at: "2026-03-01T00:00:00.000Z",
      },
    ]);
    expect(budgets.states(undefined).map((state) => state.scope)).toEqual(["instance_day"]);
  });

  test("ample room is given to at most half of what is left, so that reservations never pass a limit together", () => {
    limits.run_usd = 1;
    const session = (n: number) => ({ ...SPENDER, sessionId: `sess_${n}` });
    const admit = (n: number, ampleUsd: number) =>
      budgets.admit({ ...session(n), leastUsd: 0.01, ampleUsd, isFree: false });
    expect(admit(1, 0.5)).toEqual({ isAmple: true });
    expect(admit(2, 0.26)).toEqual({ isAmple: false });
    // The session then holds the lower price.
    expect(check(0.49, session(3))).toBeUndefined();
    expect(admit(4, 0.5)).toMatchObject({ scope: "run" });
    budgets.release("sess_3");
    expect(admit(2, 0.25)).toEqual({ isAmple: true });
    expect(check(0.25, session(3))).toBeUndefined();
    expect(check(0.01, session(4))?.scope).toBe("run");
    budgets.release("sess_1");
    expect(check(0.5, session(4))).toBeUndefined();
    limits.run_usd = null;
    expect(admit(5, 1_000)).toEqual({ isAmple: true });
  });

  test("a call of unknown price counts nothing, and is stopped once the rest is spent", () => {
    limits.run_usd = 1;
    spend(null);
    expect(check(0)).toBeUndefined();
    spend(1);
    expect(check(0)?.scope).toBe("run");
  });
});

describe("the budget of a session and all that it started", () => {
  test("counts what is spent and set aside, and lets no two calls at once pass it together", () => {
    own = { purse: { sessionId: "sess_root", limitUsd: 1, takenNano: 0.5e9 }, root: { id: "sess_root", spentNano: 0 } };
    const child = (sessionId: string) => ({ agentId: "engineer", sessionId });
    expect(check(0.3, child("sess_a"))).toBeUndefined();
    expect(check(0.3, child("sess_b"))).toMatchObject({ scope: "session", limitUsd: 1, spentUsd: 0.5 });
    budgets.release("sess_a");
    expect(check(0.3, child("sess_b"))).toBeUndefined();
  });

  test("outside a run the whole tree counts as one, against the limit of a run", () => {
    limits = { ...limits, run_usd: 1 };
    own = { root: { id: "sess_root", spentNano: 0.8e9 } };
    expect(check(0.3, { agentId: "engineer", sessionId: "sess_a" })).toMatchObject({ scope: "run", spentUsd: 0.8 });
    expect(check(0.1, { agentId: "engineer", sessionId: "sess_a" })).toBeUndefined();
    expect(check(0.2, { agentId: "other", sessionId: "sess_b" })).toMatchObject({ scope: "run" });
  });
});
