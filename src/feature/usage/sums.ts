/** Sums over logged calls. Whole numbers throughout: what is answered is exactly what the rows hold. */
import { and, asc, eq, gte, isNotNull, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { timestamp } from "../../core/clock.ts";
import type { Db } from "../../store/store.ts";
import { llmCalls as table } from "../../store/tables/usage.ts";
import type { Granularity, Totals } from "./model.ts";
import { toUsd } from "./money.ts";
import { PREFIX } from "./period.ts";

export interface CallFilter {
  agentId?: string | undefined;
  runId?: string | undefined;
  sessionId?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  /** Whose; undefined means everybody's. */
  userId?: string | undefined;
  /** Milliseconds; [since, until). */
  since?: number | undefined;
  until?: number | undefined;
  errors?: boolean | undefined;
}

export function conditionOf(filter: CallFilter): SQL | undefined {
  const is = (column: SQLiteColumn, value: string | undefined) => (value === undefined ? undefined : eq(column, value));
  return and(
    is(table.agent_id, filter.agentId),
    is(table.run_id, filter.runId),
    is(table.session_id, filter.sessionId),
    is(table.provider, filter.provider),
    is(table.model, filter.model),
    is(table.user_id, filter.userId),
    filter.since === undefined ? undefined : gte(table.created_at, timestamp(filter.since)),
    filter.until === undefined ? undefined : lt(table.created_at, timestamp(filter.until)),
    filter.errors ? isNotNull(table.error_code) : undefined,
  );
}

const total = (column: SQLiteColumn) => sql<number>`coalesce(sum(${column}), 0)`;
const SUMS = {
  calls: sql<number>`count(*)`,
  errors: sql<number>`count(${table.error_code})`,
  input_tokens: total(table.input_tokens),
  output_tokens: total(table.output_tokens),
  cache_read_tokens: total(table.cache_read_tokens),
  cache_write_tokens: total(table.cache_write_tokens),
  reasoning_tokens: total(table.reasoning_tokens),
  cost_nano: total(table.cost_nano),
  calls_without_price: sql<number>`count(*) - count(${table.cost_nano})`,
};

type Sums = { [K in keyof typeof SUMS]: number };
export const NO_SUMS: Sums = {
  calls: 0,
  errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost_nano: 0,
  calls_without_price: 0,
};

const present = ({ cost_nano, ...sums }: Sums): Totals => ({ ...sums, cost_usd: toUsd(cost_nano) });
export const NO_TOTALS: Totals = present(NO_SUMS);
const GROUPS = 1_000;

export interface UsageSums {
  totals(filter: CallFilter): Totals;
  /** Dearest first. */
  by(column: "provider" | "model" | "agent_id", filter: CallFilter): (Totals & { key: string })[];
  /** Oldest first; times without a call are left out. `key` is the bucket's prefix (`2026-05-01`). */
  over(granularity: Granularity, filter: CallFilter): (Totals & { key: string })[];
}

export function createSums(db: Db): UsageSums {
  return {
    totals: (filter) => present(db.select(SUMS).from(table).where(conditionOf(filter)).get() ?? NO_SUMS),
    by: (column, filter) =>
      db
        .select({ key: table[column], ...SUMS })
        .from(table)
        .where(conditionOf(filter))
        .groupBy(table[column])
        .orderBy(sql`coalesce(sum(${table.cost_nano}), 0) DESC`, sql`count(*) DESC`, asc(table[column]))
        .limit(GROUPS)
        .all()
        .map(({ key, ...sums }) => ({ key, ...present(sums) })),
    over(granularity, filter) {
      const key = sql<string>`substr(${table.created_at}, 1, ${sql.raw(String(PREFIX[granularity]))})`;
      return db
        .select({ key, ...SUMS })
        .from(table)
        .where(conditionOf(filter))
        .groupBy(key)
        .orderBy(key)
        .all()
        .map(({ key, ...sums }) => ({ key, ...present(sums) }));
    },
  };
}
