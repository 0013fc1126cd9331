/**
 * Sums over model calls, in whole numbers, so that they are exact. They come from running totals where possible. Parts
 * of a day, a single run or session, and failed calls alone are summed from the calls themselves.
 */

import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { toUsd } from "../../core/money.ts";
import { type Asker, inSeenProject } from "../../core/ownership.ts";
import { recordOf } from "../../core/typed-keys.ts";
import { idsSince, idsUntil } from "../../store/id-range.ts";
import type { Where } from "../../store/rows.ts";
import type { Store } from "../../store/store.ts";
import type { llmCalls as table } from "../../store/tables/usage.ts";
import type { Granularity, Totals } from "./model.ts";
import { PREFIX, startOfDay } from "./period.ts";
import { COLUMNS, COUNTED, type Counted, NOBODY } from "./totals.ts";

export interface CallFilter {
  agentId?: string | undefined;
  runId?: string | undefined;
  sessionId?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  /** Whose calls; undefined means everybody's. */
  userId?: string | undefined;
  /** The period [since, until), ms since the epoch. */
  since?: number | undefined;
  until?: number | undefined;
  errors?: boolean | undefined;
  /** Only calls in projects that the asker sees, and calls in no project; undefined: all calls. */
  seenBy?: Asker | undefined;
}

export function conditionsOf(filter: CallFilter): Where<typeof table>[] {
  const { agentId, runId, sessionId, provider, model, userId, since, until, seenBy, errors } = filter;
  const few = runId !== undefined || sessionId !== undefined;
  const [from, to] = [since, until].map((ms) => (ms === undefined ? undefined : toTimestamp(ms)));
  return [
    { agent_id: agentId, run_id: runId, session_id: sessionId, provider, model },
    // A run or session has few calls, so `+` makes SQLite use the index on these instead.
    userId === undefined ? undefined : [`${few ? "+" : ""}user_id = ?`, userId],
    from === undefined ? undefined : [`created_at >= ? AND ${idsSince("llm_calls", "created_at")}`, from, from],
    to === undefined ? undefined : [`created_at < ? AND ${idsUntil("llm_calls", "created_at")}`, to, to],
    seenBy && inSeenProject(seenBy, "llm_calls.project_id"),
    errors ? ["error_code IS NOT NULL"] : undefined,
  ];
}

type Sums = Record<Counted, number>;
/** Sums are never shown below zero, whatever a row holds. */
const present = ({ cost_nano, ...sums }: Sums): Totals => {
  for (const name of COLUMNS) if (name !== "cost_nano" && sums[name] < 0) sums[name] = 0;
  return { ...sums, cost_usd: Math.max(0, toUsd(cost_nano)) };
};
export const NO_TOTALS: Totals = present(recordOf(COLUMNS, () => 0));
const GROUPS = 1_000;

interface Source {
  /** A SELECT of `at`, `agent_id`, `provider`, `model`, `user_id` and the counted columns. */
  sql: string;
  values: string[];
}

/** A column or a condition, with its value if the filter has one. */
type Bound = [sql: string, value: string | undefined];

const columnsOf = (filter: CallFilter): Bound[] => [
  ["user_id", filter.userId],
  ["agent_id", filter.agentId],
  ["provider", filter.provider],
  ["model", filter.model],
  ["run_id", filter.runId],
  ["session_id", filter.sessionId],
];

const isGiven = (bound: Bound): bound is [string, string] => bound[1] !== undefined;

/** Selects rows of a table between two times. */
function select(from: "llm_calls" | "usage_days" | "usage_hours", filter: CallFilter, between: Between): Source {
  const time = { llm_calls: "created_at", usage_days: "day", usage_hours: "hour" }[from];
  const counted = COLUMNS.map((name) => (from === "llm_calls" ? `${COUNTED[name]} AS ${name}` : name));
  const user = `coalesce(user_id, '${NOBODY}') AS user_id`;
  const keys = from === "usage_hours" ? [] : ["agent_id", "provider", "model", user];
  const given = columnsOf(filter).filter(isGiven);
  const bounds: Bound[] = [
    [`${time} >= ?`, between.from],
    [`${time} < ?`, between.to],
  ];
  const within = bounds.filter(isGiven);
  // A run or session has few calls, so `+` makes SQLite use the index on these instead.
  const few = filter.runId !== undefined || filter.sessionId !== undefined;
  const isPlain = (column: string) => !few || column === "run_id" || column === "session_id";
  const where = [
    ...given.map(([column]) => `${isPlain(column) ? "" : "+"}${column} = ?`),
    ...within.map(([condition]) => condition),
  ];
  if (filter.errors) where.push("error_code IS NOT NULL");
  return {
    sql: `SELECT ${[`${time} AS at`, ...keys, ...counted].join()} FROM ${from} WHERE ${where.join(" AND ") || "1"}`,
    values: [...given.map(([, value]) => value), ...within.map(([, value]) => value)],
  };
}

interface Between {
  from?: string | undefined;
  to?: string | undefined;
}

/** The source of sums: whole days come from the totals, parts of days at both ends from the calls. */
function sourceOf(filter: CallFilter): Source {
  const { since, until } = filter;
  const stamp = (ms: number | undefined) => (ms === undefined ? undefined : toTimestamp(ms));
  const selectCalls = (from: number | undefined, to: number | undefined) =>
    select("llm_calls", filter, { from: stamp(from), to: stamp(to) });
  if (filter.runId !== undefined || filter.sessionId !== undefined || filter.errors) return selectCalls(since, until);
  const first = since === undefined ? undefined : startOfDay(since + DAY_MS - 1);
  const last = until === undefined ? undefined : startOfDay(until);
  if (first !== undefined && last !== undefined && first > last) return selectCalls(since, until);
  const toDay = (ms: number | undefined) => stamp(ms)?.slice(0, PREFIX.day);
  const parts = [select("usage_days", filter, { from: toDay(first), to: toDay(last) })];
  if (since !== first) parts.push(selectCalls(since, first));
  if (until !== last) parts.push(selectCalls(last, until));
  return { sql: parts.map(({ sql }) => sql).join(" UNION ALL "), values: parts.flatMap(({ values }) => values) };
}

const SUMMED = COLUMNS.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join();

export function createSums({ statement }: Pick<Store, "statement">) {
  const sumBy = (key: string, { sql, values }: Source, order: string): (Totals & { key: string })[] => {
    const rows = statement<Sums & { key: string }>(
      `SELECT ${key} AS key, ${SUMMED} FROM (${sql}) GROUP BY 1 ORDER BY ${order}`,
    ).all(values);
    return rows.map(({ key, ...sums }) => ({ key, ...present(sums) }));
  };
  return {
    totals(filter: CallFilter): Totals {
      const { sql, values } = sourceOf(filter);
      return present(statement<Sums>(`SELECT ${SUMMED} FROM (${sql})`).get(values)!);
    },
    /** Sums by that column, the most expensive first. */
    by: (column: "provider" | "model" | "agent_id" | "user_id", filter: CallFilter): (Totals & { key: string })[] =>
      sumBy(column, sourceOf(filter), `cost_nano DESC, calls DESC, key LIMIT ${GROUPS}`),
    /**
     * Sums by time, oldest first; times without a call are left out. `key` is the bucket's prefix (`2026-05-01`). Sums
     * by hour cover whole hours only, of one user or all.
     */
    over(granularity: Granularity, filter: CallFilter): (Totals & { key: string })[] {
      const key = `substr(at, 1, ${PREFIX[granularity]})`;
      if (granularity !== "hour") return sumBy(key, sourceOf(filter), "key");
      const { userId, since, until } = filter;
      const toHour = (ms: number | undefined) => (ms === undefined ? undefined : toTimestamp(ms).slice(0, PREFIX.hour));
      return sumBy(key, select("usage_hours", { userId }, { from: toHour(since), to: toHour(until) }), "key");
    },
  };
}
