/** Daily cost by model, agent or project, and how each day's runs ended. It reads daily sums, never single calls. */
import { toTimestamp } from "../../core/clock.ts";
import { toUsd } from "../../core/money.ts";
import { type Asker, inSeenProject } from "../../core/ownership.ts";
import type { Store } from "../../store/store.ts";
import type { Outcomes, TrendBy, UsageTrend } from "./model.ts";
import { bucketsOf, PREFIX } from "./period.ts";
import { NO_PROJECT } from "./totals.ts";

export type UsageTrends = ReturnType<typeof createUsageTrends>;

/** Most keys that are listed separately; the others are added together. */
const SERIES = 8;
const SUMS = {
  model: { table: "usage_days", key: "model" },
  agent: { table: "usage_days", key: "agent_id" },
  project: { table: "usage_projects", key: "project_id" },
};

interface Sum {
  day: string;
  key: string;
  /** 1 for the sum of the keys that are not listed. */
  others: number;
  calls: number;
  cost_nano: number;
  calls_without_price: number;
}
type OutcomeRow = Omit<Outcomes, "cost_usd"> & { day: string; cost_nano: number };

const NO_OUTCOMES: Omit<OutcomeRow, "day"> = {
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  cost_nano: 0,
  calls_without_price: 0,
};
/** Values are never shown below zero. They could be after two servers with different clocks, or an edit by hand. */
const presentOutcomes = ({ cost_nano, ...row }: Omit<OutcomeRow, "day">): Outcomes => ({
  succeeded: Math.max(0, row.succeeded),
  failed: Math.max(0, row.failed),
  cancelled: Math.max(0, row.cancelled),
  cost_usd: Math.max(0, toUsd(cost_nano)),
  calls_without_price: Math.max(0, row.calls_without_price),
});

const total = <T>(rows: readonly T[], of: (row: T) => number): number => rows.reduce((sum, row) => sum + of(row), 0);

export function createUsageTrends({ statement }: Pick<Store, "statement">) {
  const nameOf = (id: string): string | null =>
    statement<string>("SELECT name FROM projects WHERE id = ?").pluck().get([id]) ?? null;

  /** Sums by day and key. Keys outside the most expensive ones are summed together. */
  function sumsOf(by: TrendBy, where: string, values: readonly string[]): { keys: string[]; sums: Sum[] } {
    const { table, key } = SUMS[by];
    const keys = statement<string>(
      `SELECT ${key} FROM ${table} WHERE ${where} GROUP BY 1 ORDER BY sum(cost_nano) DESC, sum(calls) DESC, 1 LIMIT ${SERIES}`,
    )
      .pluck()
      .all(values);
    const listed = `(${Array.from({ length: SERIES }, () => "?").join()})`;
    const sums = statement<Sum>(
      `SELECT day, CASE WHEN ${key} IN ${listed} THEN ${key} ELSE '' END AS key, ${key} NOT IN ${listed} AS others,
         sum(calls) AS calls, sum(cost_nano) AS cost_nano, sum(calls_without_price) AS calls_without_price
       FROM ${table} WHERE ${where} GROUP BY 1, 2, 3`,
    ).all([...pad(keys), ...pad(keys), ...values]);
    return { keys, sums };
  }
  /** Pads the keys to a fixed number, so that the statement's text stays the same. */
  const pad = (keys: readonly string[]): (string | null)[] =>
    Array.from({ length: SERIES }, (_, at) => keys[at] ?? keys[0] ?? null);

  return {
    /**
     * The daily costs and outcomes; of projects, only those that the caller sees. `from` and `to` are ms since the
     * epoch; the first and last day are whole.
     * @throws Problem 422 for too long a period.
     */
    read(
      by: TrendBy,
      { from, to, userId }: { from: number; to: number; userId: string | undefined },
      caller: Asker,
    ): UsageTrend {
      const days = bucketsOf("day", from, to);
      const [first, last] = [days[0]!, days.at(-1)!];
      const toDay = (ms: number) => toTimestamp(ms).slice(0, PREFIX.day);
      const where = `day >= ? AND day < ?${userId === undefined ? "" : " AND user_id = ?"}`;
      const values = [toDay(first.start), toDay(last.end), ...(userId === undefined ? [] : [userId])];
      const [seen, ...ofProjects] = (by === "project" ? inSeenProject(caller, "project_id") : undefined) ?? ["1"];
      const { keys, sums } = sumsOf(by, `${where} AND ${seen}`, [...values, ...ofProjects]);
      const outcomes = statement<OutcomeRow>(
        `SELECT day, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(cancelled) AS cancelled,
           sum(cost_nano) AS cost_nano, sum(calls_without_price) AS calls_without_price
         FROM run_days WHERE ${where} GROUP BY 1`,
      ).all(values);
      const hasOthers = sums.some(({ others }) => others === 1);
      const columns = [
        ...keys.map((key) => ({ key, others: false })),
        ...(hasOthers ? [{ key: "", others: true }] : []),
      ];
      const isOf = (column: (typeof columns)[number]) => (row: Sum) =>
        (row.others === 1) === column.others && row.key === column.key;
      const byDay = Map.groupBy(sums, (row) => row.day);
      const endedOn = new Map(outcomes.map((row) => [row.day, row]));
      const ended = presentOutcomes({
        succeeded: total(outcomes, (row) => row.succeeded),
        failed: total(outcomes, (row) => row.failed),
        cancelled: total(outcomes, (row) => row.cancelled),
        cost_nano: total(outcomes, (row) => row.cost_nano),
        calls_without_price: total(outcomes, (row) => row.calls_without_price),
      });
      const addUp = (rows: readonly Sum[]) => ({
        calls: total(rows, ({ calls }) => calls),
        cost_usd: toUsd(total(rows, ({ cost_nano }) => cost_nano)),
        calls_without_price: total(rows, (row) => row.calls_without_price),
      });
      return {
        by,
        from: toTimestamp(first.start),
        to: toTimestamp(last.end),
        series: columns.map((column) => ({
          ...column,
          name: by === "project" && !column.others && column.key !== NO_PROJECT ? nameOf(column.key) : null,
          ...addUp(sums.filter(isOf(column))),
        })),
        items: days.map(({ start }) => {
          const rows = byDay.get(toDay(start)) ?? [];
          return {
            start_at: toTimestamp(start),
            ...addUp(rows),
            costs_usd: columns.map((column) => addUp(rows.filter(isOf(column))).cost_usd),
            runs: presentOutcomes(endedOn.get(toDay(start)) ?? NO_OUTCOMES),
          };
        }),
        runs: { ...ended, per_success_usd: ended.succeeded === 0 ? null : ended.cost_usd / ended.succeeded },
      };
    },
  };
}
