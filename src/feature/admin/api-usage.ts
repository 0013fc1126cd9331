/**
 * Counts requests by route, status, caller and day. The counts are kept in memory and written in batches: a crash loses
 * at most the last interval's counts, and no request waits for the disk.
 */
import { type Clock, DAY_MS, toTimestamp } from "../../core/clock.ts";
import { allOf } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import type { apiUsage as table } from "../../store/tables/admin.ts";
import type { ApiUsage } from "./model.ts";

interface CountedRequest {
  method: string;
  /** The route as declared, with `:name` parameters. */
  route: string;
  status: number;
  /** The user's id; the kind of caller when there is no user. */
  caller: string;
  durationMs: number;
}

interface ApiUsageFilter {
  /** First and last day, YYYY-MM-DD, both inclusive. Without them: the last 30 days. */
  from?: string | undefined;
  to?: string | undefined;
  route?: string | undefined;
  user?: string | undefined;
}

export type ApiUsageCounts = ReturnType<typeof createApiUsage>;

const FLUSH_MS = 10_000;
/** Limit of distinct counters in memory. At this limit they are written at once, which takes some milliseconds. */
const MAX_COUNTERS = 1_000;
const ADD = `INSERT INTO api_usage (day, method, route, status, caller, requests, total_ms, max_ms)
  VALUES (@day, @method, @route, @status, @caller, @requests, @total_ms, @max_ms)
  ON CONFLICT (day, method, route, status, caller) DO UPDATE SET requests = requests + excluded.requests,
    total_ms = total_ms + excluded.total_ms, max_ms = max(max_ms, excluded.max_ms)`;
const GROUPS = 500;
const METHODS = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]);

type Counter = typeof table.$inferInsert;

export function createApiUsage({ store, clock }: { store: Store; clock: Clock }) {
  let counters = new Map<string, Counter>();
  const toDay = (ms: number) => toTimestamp(ms).slice(0, 10);

  function flush(): void {
    if (counters.size === 0 || !store.sqlite.open) return;
    const rows = [...counters.values()];
    const add = store.statement(ADD);
    store.write(() => {
      for (const row of rows) add.run(row);
    });
    counters = new Map();
  }
  const tryFlush = () => {
    try {
      flush();
    } catch {
      // The disk may be full: the counters stay in memory and are written later. Above this bound they are dropped.
      if (counters.size > MAX_COUNTERS * 2) counters = new Map();
    }
  };
  const timer = setInterval(tryFlush, FLUSH_MS);
  timer.unref();

  return {
    count({ method: given, route, status, caller, durationMs }: CountedRequest): void {
      const method = METHODS.has(given) ? given : "OTHER";
      const today = toDay(clock.now());
      const key = [today, method, route, status, caller].join("\n");
      const known = counters.get(key);
      if (known) {
        known.requests++;
        known.total_ms += durationMs;
        known.max_ms = Math.max(known.max_ms, durationMs);
        return;
      }
      const row = { day: today, method, route, status, caller, requests: 1, total_ms: durationMs, max_ms: durationMs };
      counters.set(key, row);
      if (counters.size >= MAX_COUNTERS) tryFlush();
    },
    flush,
    report({ from, to, route, user }: ApiUsageFilter): ApiUsage {
      tryFlush();
      const last = to ?? toDay(clock.now());
      const first = from ?? toDay(Date.parse(last) - 29 * DAY_MS);
      const { where, values } = allOf(
        ["day BETWEEN ? AND ?", first, last],
        route === undefined ? undefined : ["route = ?", route],
        user === undefined ? undefined : ["caller = ?", user],
      );
      /** Sums for each combination of the columns, most requests first. Lists by day pass an `order` of their own. */
      function sumBy<By extends object>(columns: string, order = "sum(requests) DESC"): (By & Sums)[] {
        const places = columns.split(", ").map((_, at) => at + 1);
        const text = `SELECT ${columns}, ${SUMS} FROM api_usage ${where}
          GROUP BY ${places} ORDER BY ${order}, ${places} LIMIT ${GROUPS}`;
        return store.statement<By & Sums>(text).all(...values);
      }
      return {
        from: first,
        to: last,
        totals: store.statement<Sums>(`SELECT ${SUMS} FROM api_usage ${where}`).get(...values)!,
        by_route: sumBy<{ method: string; route: string }>("method, route"),
        by_status: sumBy<{ status: number }>("status"),
        by_user: sumBy<{ user: string }>("caller AS user"),
        by_day: sumBy<{ day: string }>("day", "day"),
      };
    },
    /** Removes the oldest day that is before that time. @returns whether it removed one; more may be left. */
    prune(before: number): boolean {
      const oldest = store.statement<string | null>("SELECT min(day) FROM api_usage").pluck().get();
      if (oldest === undefined || oldest === null || oldest >= toDay(before)) return false;
      store.write(() => store.statement("DELETE FROM api_usage WHERE day = ?").run(oldest));
      return true;
    },
    /** Writes the remaining counts and stops the timer. */
    stop(): void {
      clearInterval(timer);
      tryFlush();
    },
  };
}

type Sums = ApiUsage["totals"];
const SUMS = `coalesce(sum(requests), 0) AS requests,
  coalesce(sum(requests) FILTER (WHERE status >= 500), 0) AS errors,
  coalesce(sum(requests) FILTER (WHERE status BETWEEN 400 AND 499), 0) AS refused,
  coalesce(round(sum(total_ms) / sum(requests), 3), 0) AS average_ms,
  coalesce(round(max(max_ms), 3), 0) AS max_ms`;
