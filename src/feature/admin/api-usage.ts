/**
 * Requests by route, status, caller and day. Counted in memory, written in batches: a crash loses at most the last
 * interval's counts, and no request waits for the disk.
 */
import { and, asc, eq, gte, lte, min, type SQL, sql } from "drizzle-orm";
import { type Clock, DAY_MS, timestamp } from "../../core/clock.ts";
import type { Store } from "../../store/store.ts";
import { apiUsage as table } from "../../store/tables/admin.ts";
import type { ApiUsage } from "./model.ts";

export interface CountedRequest {
  method: string;
  /** As declared, with `:name` parameters. */
  route: string;
  status: number;
  /** User id, else the kind of caller. */
  caller: string;
  durationMs: number;
}

export interface ApiUsageFilter {
  /** Days, YYYY-MM-DD, both inclusive; the last 30 days when absent. */
  from?: string | undefined;
  to?: string | undefined;
  route?: string | undefined;
  user?: string | undefined;
}

export interface ApiUsageCounts {
  count(request: CountedRequest): void;
  /** Writes what was counted. */
  flush(): void;
  report(filter: ApiUsageFilter): ApiUsage;
  /** Removes the days before that time. */
  prune(before: number): boolean;
  /** Writes the rest and stops the timer. */
  stop(): void;
}

const FLUSH_MS = 10_000;
/** Distinct counters kept in memory; beyond that they are written immediately. To write them takes some milliseconds. */
const MAX_COUNTERS = 1_000;
const ADD = `INSERT INTO api_usage (day, method, route, status, caller, requests, total_ms, max_ms)
  VALUES (@day, @method, @route, @status, @caller, @requests, @total_ms, @max_ms)
  ON CONFLICT (day, method, route, status, caller) DO UPDATE SET requests = requests + excluded.requests,
    total_ms = total_ms + excluded.total_ms, max_ms = max(max_ms, excluded.max_ms)`;
const GROUPS = 500;
const METHODS = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]);

type Counter = typeof table.$inferInsert;

export function createApiUsage({ store, clock }: { store: Store; clock: Clock }): ApiUsageCounts {
  const { db } = store;
  let counters = new Map<string, Counter>();
  const day = (ms: number) => timestamp(ms).slice(0, 10);

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
      // A full disk: the counters stay, bounded by the number of routes, and go out later.
      if (counters.size > MAX_COUNTERS * 2) counters = new Map();
    }
  };
  const timer = setInterval(tryFlush, FLUSH_MS);
  timer.unref();

  return {
    count({ method: given, route, status, caller, durationMs }) {
      const method = METHODS.has(given) ? given : "OTHER";
      const today = day(clock.now());
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
    report({ from, to, route, user }) {
      tryFlush();
      const last = to ?? day(clock.now());
      const first = from ?? day(Date.parse(last) - 29 * DAY_MS);
      const where = and(
        gte(table.day, first),
        lte(table.day, last),
        route === undefined ? undefined : eq(table.route, route),
        user === undefined ? undefined : eq(table.caller, user),
      );
      const rows = db.select(SUMS).from(table).where(where);
      return {
        from: first,
        to: last,
        totals: rows.get() ?? NOTHING,
        by_route: grouped(where, { method: table.method, route: table.route }),
        by_status: grouped(where, { status: table.status }),
        by_user: grouped(where, { user: table.caller }),
        by_day: db
          .select({ day: table.day, ...SUMS })
          .from(table)
          .where(where)
          .groupBy(table.day)
          .orderBy(asc(table.day))
          .all(),
      };
    },
    prune(before) {
      const oldest = db
        .select({ day: min(table.day) })
        .from(table)
        .get()?.day;
      if (oldest === undefined || oldest === null || oldest >= day(before)) return false;
      store.write(() => db.delete(table).where(eq(table.day, oldest)).run());
      return true;
    },
    stop() {
      clearInterval(timer);
      tryFlush();
    },
  };

  function grouped<C extends Record<string, Column>>(where: SQL | undefined, columns: C) {
    return db
      .select({ ...columns, ...SUMS })
      .from(table)
      .where(where)
      .groupBy(...Object.values(columns))
      .orderBy(sql`sum(${table.requests}) DESC`, ...Object.values(columns))
      .limit(GROUPS)
      .all();
  }
}

type Column = typeof table.method | typeof table.route | typeof table.status | typeof table.caller;
const NOTHING = { requests: 0, errors: 0, refused: 0, average_ms: 0, max_ms: 0 };
const SUMS = {
  requests: sql<number>`coalesce(sum(${table.requests}), 0)`,
  errors: sql<number>`coalesce(sum(${table.requests}) FILTER (WHERE ${table.status} >= 500), 0)`,
  refused: sql<number>`coalesce(sum(${table.requests}) FILTER (WHERE ${table.status} BETWEEN 400 AND 499), 0)`,
  average_ms: sql<number>`coalesce(round(sum(${table.total_ms}) / sum(${table.requests}), 3), 0)`,
  max_ms: sql<number>`coalesce(round(max(${table.max_ms}), 3), 0)`,
};
