import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { systemClock } from "../../core/clock.ts";
import { nanoText, toNano } from "../../core/money.ts";
import { databasePath, openStore, type Store } from "../../store/store.ts";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { HistoryBucket, LlmCall, LlmCallRecord, Totals, UsageSummary } from "./model.ts";
import { createUsageLog, type UsageLog } from "./service.ts";

// Properties are tested over thousands of calls, which is slow on a busy machine.
setDefaultTimeout(300_000);

const USAGE = { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 1, reasoning_tokens: 3 };
const call = (
  reply: Partial<LlmCallRecord["reply"]> = {},
  of: Partial<Omit<LlmCallRecord, "reply">> = {},
): LlmCallRecord => ({
  agentId: "engineer",
  ...of,
  reply: {
    provider: "openai",
    model: "openai/gpt-4o-mini",
    key_source: "instance",
    usage: USAGE,
    cost_usd: 0.1,
    cost_source: "table",
    duration_ms: 12.6,
    time_to_first_token_ms: 3.4,
    attempts: 1,
    finish: "stop",
    ...reply,
  },
});

interface Log {
  usage: UsageLog;
  store: Store;
  at(time: string | number): void;
}
function openLog(path = ":memory:"): Log {
  let now = Date.parse("2026-03-01T00:00:00Z");
  const clock = { now: () => now, monotonic: systemClock.monotonic };
  const store = openStore({ path, clock });
  return {
    store,
    usage: createUsageLog({ store, clock, onRecorded: [] }),
    at(time) {
      now = typeof time === "number" ? time : Date.parse(time);
    },
  };
}

const NUMBERS = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
] as const;
/** Sums of rows, computed here in whole billionths. */
function reckon(rows: readonly LlmCall[]) {
  const sum = { calls: rows.length, errors: 0, calls_without_price: 0, nano: 0n };
  const tokens = Object.fromEntries(NUMBERS.map((name) => [name, 0]));
  for (const row of rows) {
    if (row.error) sum.errors++;
    if (row.cost_usd === null) sum.calls_without_price++;
    else sum.nano += BigInt(Math.round(row.cost_usd * 1e9));
    for (const name of NUMBERS) tokens[name]! += row[name];
  }
  return { ...sum, ...tokens };
}
function toNumbers(totals: Totals) {
  const { calls, errors, calls_without_price, cost_usd } = totals;
  const tokens = Object.fromEntries(NUMBERS.map((name) => [name, totals[name]]));
  return { calls, errors, calls_without_price, nano: BigInt(Math.round(cost_usd * 1e9)), ...tokens };
}

describe("sums", () => {
  const tokens = fc.integer({ min: 0, max: 2_000_000 });
  const anyCall = fc.record({
    agentId: fc.constantFrom("a", "b", "c"),
    provider: fc.constantFrom("openai", "ollama"),
    userId: fc.constantFrom("usr_1", "usr_2", undefined),
    usage: fc.record({
      input_tokens: tokens,
      output_tokens: tokens,
      cache_read_tokens: tokens,
      cache_write_tokens: tokens,
      reasoning_tokens: tokens,
    }),
    // Amounts whose sum as floating point drifts: 0.1, 0.2, tiny and large ones.
    cost_usd: fc.oneof(
      fc.constantFrom(0.1, 0.2, 0.3, 0.000_000_125, 19.99, null),
      fc.integer({ min: 0, max: 10 ** 12 }).map((nano) => nano / 1e9),
    ),
    error: fc.constantFrom(undefined, { code: "provider_error", message: "no", retryable: false }),
    at: fc.integer({ min: Date.parse("2026-01-30T00:00:00Z"), max: Date.parse("2026-03-02T00:00:00Z") }),
  });

  test("totals, groups, days and history equal the rows exactly for every caller", () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 40 }), fc.constantFrom("usr_1", undefined), (calls, userId) => {
        const { usage, store, at } = openLog();
        for (const { at: time, agentId, userId, ...reply } of calls) {
          at(time);
          usage.record(call(reply, { agentId, userId }));
        }
        const rows = [...usage.each({ userId })];
        expect(rows.length).toBe(calls.filter((one) => userId === undefined || one.userId === userId).length);
        const wanted = reckon(rows);
        const summary = usage.summary({ userId });
        expect(toNumbers(summary.totals)).toEqual(wanted);
        const groups = {
          provider: summary.by_provider,
          model: summary.by_model,
          agent_id: summary.by_agent,
          user_id: summary.by_user,
          day: summary.by_day,
        };
        for (const [name, parts] of Object.entries(groups)) {
          for (const part of parts as unknown as (Totals & Record<string, string>)[]) {
            const key = part[name]!;
            const own = rows.filter((row) =>
              name === "day"
                ? row.created_at.startsWith(key)
                : row[name as "provider" | "model" | "agent_id" | "user_id"] === key,
            );
            expect(toNumbers(part)).toEqual(reckon(own));
          }
          expect(parts.reduce((sum, part) => sum + part.calls, 0)).toBe(rows.length);
        }
        const period = { from: Date.parse("2026-01-30"), to: Date.parse("2026-03-03"), userId };
        for (const granularity of ["hour", "day", "month"] as const) {
          const buckets = usage.history(granularity, period);
          for (const bucket of buckets)
            expect(toNumbers(bucket)).toEqual(
              reckon(rows.filter((row) => row.created_at >= bucket.start_at && row.created_at < bucket.end_at)),
            );
          expect(buckets.reduce((sum, bucket) => sum + bucket.calls, 0)).toBe(rows.length);
        }
        store.close();
      }),
      { numRuns: 60 },
    );
  });

  test("a stored amount comes back as it was, to the billionth, and reads as its exact decimal", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 * 10 ** 15 }), (nano) => {
        expect(toNano(nano / 1e9)).toBe(nano);
        expect(nanoText(nano).includes("e")).toBe(false);
        const [whole, fraction = ""] = nanoText(nano).split(".");
        expect(BigInt(whole! + fraction.padEnd(9, "0"))).toBe(BigInt(nano));
      }),
    );
    expect([nanoText(125), nanoText(1_500_000_000), nanoText(0)]).toEqual(["0.000000125", "1.5", "0"]);
  });

  test("the forecast is this month's spend and the mean of the last days until its end", () => {
    const { usage, store, at } = openLog();
    const spend = (time: string, cost_usd: number, userId = "usr_1") => {
      at(time);
      usage.record(call({ cost_usd }, { userId }));
    };
    const forecastAt = (now: string, userId?: string) => {
      at(now);
      return usage.forecast(userId);
    };
    expect(forecastAt("2026-03-11T00:00:00Z")).toMatchObject({ spent_usd: 0, per_day_usd: 0, expected_usd: 0 });
    spend("2026-03-10T12:00:00Z", 4);
    // The first calls are a day and a half old, so the mean is over that time and not over a week.
    spend("2026-03-11T09:00:00Z", 2, "usr_2");
    expect(forecastAt("2026-03-11T12:00:00Z")).toEqual({
      until: "2026-04-01T00:00:00.000Z",
      spent_usd: 6,
      per_day_usd: 4,
      expected_usd: 6 + 4 * 20.5,
    });
    expect(forecastAt("2026-03-11T12:00:00Z", "usr_2")).toMatchObject({ spent_usd: 2, per_day_usd: 2 });
    // A month later, older calls no longer count. But because there were some, the whole week counts.
    expect(forecastAt("2026-04-11T12:00:00Z")).toMatchObject({ spent_usd: 0, per_day_usd: 0 });
    spend("2026-04-11T12:00:00Z", 6.5);
    expect(forecastAt("2026-04-11T12:00:00Z")).toMatchObject({ spent_usd: 6.5, per_day_usd: 1 });
    store.close();
  });

  test("history has every bucket, across months of different length, and refuses too many", () => {
    const { usage, store } = openLog();
    const months = usage.history("month", { from: Date.parse("2025-11-15"), to: Date.parse("2026-03-01") });
    expect(months.map((bucket) => bucket.start_at.slice(0, 10))).toEqual([
      "2025-11-01",
      "2025-12-01",
      "2026-01-01",
      "2026-02-01",
    ]);
    expect(() => usage.history("hour", { from: 0, to: Date.parse("2026-01-01") })).toThrow("More than 2000");
    expect(() => usage.history("day", { from: 5, to: 5 })).toThrow();
    store.close();
  });

  test("the row, its event and a rolled-back transaction agree", () => {
    const { usage, store } = openLog();
    const published: unknown[] = [];
    store.onCommit((events) =>
      published.push(...events.map((event) => [event.kind, event.agent_id, event.data["id"]])),
    );
    const made = usage.record(call({}, { runId: "run_1", sessionId: "sess_1" }));
    expect(() =>
      store.write(() => {
        usage.record(call());
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(usage.list({ limit: 10, after: null }, {}).items).toEqual([made]);
    expect(published).toEqual([["llm_call", "engineer", made.id]]);
    expect(made).toMatchObject({ duration_ms: 13, time_to_first_token_ms: 3, cost_usd: 0.1, run_id: "run_1" });
    store.close();
  });

  test("any stretch of time, and any of its agents and models, adds up to the calls in it", () => {
    const time = fc.integer({ min: Date.parse("2026-01-29T22:00:00Z"), max: Date.parse("2026-02-03T02:00:00Z") });
    const edge = fc.option(
      fc.oneof(time, fc.constantFrom(...["2026-01-31", "2026-02-01"].map((day) => Date.parse(day)))),
      {
        nil: undefined,
      },
    );
    const filters = fc.record({
      since: edge,
      until: edge,
      agentId: fc.constantFrom("a", undefined),
      provider: fc.constantFrom("ollama", undefined),
      userId: fc.constantFrom("usr_1", "", undefined),
      errors: fc.constantFrom(true, undefined),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(anyCall, time), { maxLength: 30 }), filters, (calls, filter) => {
        const { usage, store, at } = openLog();
        for (const [{ at: _, agentId, userId, ...reply }, when] of calls) {
          at(when);
          usage.record(call(reply, { agentId, userId }));
        }
        const wanted = reckon([...usage.each(filter)]);
        const summary = usage.summary(filter);
        expect(toNumbers(summary.totals)).toEqual(wanted);
        for (const parts of [summary.by_day, summary.by_agent, summary.by_provider])
          expect(parts.reduce((sum, part) => sum + part.calls, 0)).toBe(wanted.calls);
        store.close();
      }),
      { numRuns: 50 },
    );
  });

  test("calls older than the limit are removed, their totals stay", () => {
    const { usage, store, at } = openLog();
    at("2026-01-01T00:00:00Z");
    usage.record(call());
    at("2026-02-01T00:00:00Z");
    usage.record(call());
    usage.prune(Date.parse("2026-01-15"));
    expect(usage.list({ limit: 10, after: null }, {}).items).toHaveLength(1);
    expect(usage.summary({}).totals.calls).toBe(2);
    store.close();
  });
});

test("a row that breaks a rule breaks no list and no sum, and one that would is not stored so", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-usage-"));
  const { usage, store } = openLog(databasePath(folder));
  try {
    const absurd = { input_tokens: -5, output_tokens: 9e300, cache_read_tokens: Number.NaN };
    const made = usage.record(call({ usage: { ...USAGE, ...absurd }, cost_usd: -3 }));
    expect(made).toMatchObject({ input_tokens: 0, output_tokens: 1e12, cache_read_tokens: 0, cost_usd: 0 });
    store.sqlite.prepare("UPDATE llm_calls SET input_tokens = -7, cost_nano = -9").run();
    store.sqlite.prepare("UPDATE usage_days SET input_tokens = -7, cost_nano = -9").run();
    const [row] = usage.list({ limit: 10, after: null }, {}).items;
    expect(row).toMatchObject({ input_tokens: 0, cost_usd: 0 });
    for (const totals of [usage.summary({}).totals, usage.summary({ errors: false }).totals])
      expect(totals).toMatchObject({ input_tokens: 0, cost_usd: 0 });
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
});

describe("routes", () => {
  let server: TestServer;
  let admin: Account;
  let user: Account;
  const get = <T = Record<string, unknown>>(path: string, who: Account = admin, headers: Record<string, string> = {}) =>
    server.request<T>("GET", path, { token: who.token, headers });
  type List = { items: LlmCall[]; next_cursor: string | null };

  beforeAll(async () => {
    const first = await startServer({ env: { AUTH_ENABLED: "true" } });
    admin = await setupAdmin(first);
    user = await makeUser(first, admin, "user@example.test");
    await first.stop();
    const { usage, store, at } = openLog(databasePath(first.data));
    at("2026-02-27T10:30:00Z");
    usage.record(call({ cost_usd: 0.1 }, { userId: user.id, runId: "run_u", sessionId: "sess_u" }));
    at("2026-02-28T23:59:59.999Z");
    usage.record(call({ model: 'openai/"quoted", name', cost_usd: 0.2 }, { userId: user.id, agentId: "=cmd()" }));
    at("2026-03-01T00:00:00Z");
    const free = { provider: "ollama", model: "ollama/qwen3", cost_usd: 0, key_source: "none" } as const;
    usage.record(call(free, { userId: admin.id }));
    usage.record(call({ cost_usd: null, cost_source: "unknown" }, { userId: admin.id, runId: "run_a" }));
    at("2026-03-02T12:00:00Z");
    const error = { code: "provider_auth", message: "refused", retryable: false };
    usage.record(call({ cost_usd: 0, finish: "error", error }, { userId: user.id }));
    store.close();
    server = await startServer({ env: { AUTH_ENABLED: "true" }, data: first.data });
  });
  afterAll(() => server.remove());

  test("administrators see every call, users their own, newest first", async () => {
    const all = (await get<List>("/v1/llm-calls")).body.items;
    expect(all.map((item) => item.created_at.slice(0, 10))).toEqual([
      "2026-03-02",
      "2026-03-01",
      "2026-03-01",
      "2026-02-28",
      "2026-02-27",
    ]);
    expect((await get<List>("/v1/llm-calls", user)).body.items.every((item) => item.user_id === user.id)).toBe(true);
    const theirs = all.find((item) => item.user_id === admin.id)!;
    expect((await get(`/v1/llm-calls/${theirs.id}`)).status).toBe(200);
    expect((await get(`/v1/llm-calls/${theirs.id}`, user)).status).toBe(404);
    expect((await get("/v1/llm-calls/llm_nothing")).status).toBe(404);
    for (const path of ["/v1/llm-calls", "/v1/llm-calls/summary", "/v1/usage", "/v1/usage/history"]) {
      expect([path, (await get(`${path}?user_id=${admin.id}`, user)).status]).toEqual([path, 403]);
      expect([path, (await server.request("GET", path)).status]).toEqual([path, 401]);
    }
  });

  test.each([
    ["agent_id=engineer", 4],
    ["run_id=run_u", 1],
    ["session_id=sess_u", 1],
    ["provider=ollama", 1],
    ["model=ollama/qwen3", 1],
    ["since=2026-03-01", 3],
    ["since=2026-03-01T00:00:00Z&until=2026-03-02", 2],
    ["since=2026-03-01T01:00:00%2B01:00&until=2026-03-02", 2],
    ["errors=true", 1],
    ["agent_id=nobody", 0],
    ["provider=openai&run_id=run_a", 1],
    ["limit=2", 2],
    ["limit=1000", 5],
  ])("%s finds %p", async (query, found) => {
    expect((await get<List>(`/v1/llm-calls?${query}`)).body.items.length).toBe(found);
  });

  test.each(["limit=0", "limit=x", "since=yesterday", "since=2026-13-01", "errors=maybe"])(
    "%s is 422",
    async (query) => {
      expect((await get(`/v1/llm-calls?${query}`)).status).toBe(422);
    },
  );

  test("pages follow each other without gap or repeat", async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const path: string = `/v1/llm-calls?limit=2${cursor ? `&cursor=${cursor}` : ""}`;
      const { body } = await get<List>(path);
      seen.push(...body.items.map((item) => item.id));
      cursor = body.next_cursor;
    } while (cursor);
    expect(seen.length).toBe(5);
    expect(new Set(seen).size).toBe(5);
  });

  test("the summary adds up and counts calls without a price apart", async () => {
    const { body } = await get<UsageSummary>("/v1/llm-calls/summary");
    expect(body.totals).toMatchObject({ calls: 5, errors: 1, cost_usd: 0.3, calls_without_price: 1, input_tokens: 50 });
    expect(body.by_provider.map((part) => [part.provider, part.calls])).toEqual([
      ["openai", 4],
      ["ollama", 1],
    ]);
    expect(body.by_day.map((part) => part.day)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
    const own = await get<UsageSummary>("/v1/llm-calls/summary?since=2026-02-28", user);
    expect(own.body.totals).toMatchObject({ calls: 2, cost_usd: 0.2 });
  });

  test("usage is one's own; an administrator may ask for another's or everybody's", async () => {
    const period = "from=2026-02-01&to=2026-04-01";
    type Usage = { user_id: string | null; totals: Totals };
    expect((await get<Usage>(`/v1/usage?${period}`, user)).body).toMatchObject({
      user_id: user.id,
      totals: { calls: 3 },
    });
    expect((await get<Usage>(`/v1/usage?${period}`)).body).toMatchObject({ user_id: admin.id, totals: { calls: 2 } });
    expect((await get<Usage>(`/v1/usage?${period}&user_id=all`)).body).toMatchObject({
      user_id: null,
      totals: { calls: 5 },
    });
    expect((await get<Usage>(`/v1/usage?${period}&user_id=${user.id}`)).body.totals.calls).toBe(3);
    expect((await get("/v1/usage?from=2026-03-01&to=2026-02-01")).status).toBe(422);
  });

  test("history by day has the empty days too, by hour and month the same sums", async () => {
    const path = "/v1/usage/history?user_id=all&from=2026-02-26&to=2026-03-03";
    const items = async (granularity: string) =>
      (await get<{ items: HistoryBucket[] }>(`${path}&granularity=${granularity}`)).body.items;
    expect((await items("day")).map((bucket) => [bucket.start_at.slice(0, 10), bucket.calls])).toEqual([
      ["2026-02-26", 0],
      ["2026-02-27", 1],
      ["2026-02-28", 1],
      ["2026-03-01", 2],
      ["2026-03-02", 1],
    ]);
    expect((await items("month")).map((bucket) => bucket.calls)).toEqual([2, 3]);
    expect((await items("hour")).length).toBe(120);
    expect((await get(`${path}&granularity=week`)).status).toBe(422);
  });

  test("Accept: text/csv exports every matching row with exact amounts and nothing that a spreadsheet would run", async () => {
    const answer = await get<string>("/v1/llm-calls?limit=1", user, { Accept: "text/csv" });
    expect(answer.headers.get("content-type")).toStartWith("text/csv");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="llm-calls.csv"');
    const lines = answer.body.trimEnd().split("\r\n");
    expect(lines.length).toBe(4);
    expect(lines[0]).toStartWith("id,agent_id,run_id,");
    expect(answer.body).toContain(",'=cmd(),");
    expect(answer.body).toContain('"openai/""quoted"", name"');
    expect(answer.body).toContain(",0.2,table,");
    expect(answer.body).not.toContain(admin.id);
    const history = await get<string>("/v1/usage/history?granularity=month&from=2026-02-01&to=2026-03-03", user, {
      Accept: "text/csv",
    });
    expect(history.body.split("\r\n")[1]).toBe(
      "2026-02-01T00:00:00.000Z,2026-03-01T00:00:00.000Z,2,0,20,10,4,2,6,0.3,0",
    );
  });
});
