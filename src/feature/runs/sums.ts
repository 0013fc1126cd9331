/**
 * Figures for the lists of pipelines and projects: how the latest runs ended, what one usually costs, when the last
 * began.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { toUsd } from "../../core/money.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import { idsSince } from "../../store/id-range.ts";
import { allOf } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { ownUnlessAdmin, WHOSE } from "../../store/whose.ts";
import { CallsWithoutPrice } from "../usage/model.ts";

export const SumsBy = oneOf("pipeline", "project");
export type SumsBy = Static<typeof SumsBy>;

export const RunSum = t.Object(
  {
    key: t.String({ description: "Id of the pipeline or project." }),
    runs: t.Integer(),
    runs_today: t.Integer({ description: "Number of runs begun since midnight UTC." }),
    succeeded: t.Integer(),
    failed: t.Integer(),
    cost_usd: t.Number({ description: "Cost of all these runs." }),
    calls_without_price: CallsWithoutPrice,
    usual_cost_usd: orNull(
      t.Number({ description: "Median cost of the runs that succeeded; null if none did or a price is unknown." }),
    ),
    last_run_at: Time,
  },
  { title: "RunSum" },
);
export type RunSum = Static<typeof RunSum>;

export const SUM_DAYS = 30;
/** Most runs that are read. */
export const SUMMED_MAX = 2_000;

interface Row {
  key: string;
  status: string;
  cost_nano: number;
  calls_without_price: number;
  created_at: string;
}

export type RunSums = ReturnType<typeof createRunSums>;

export function createRunSums({ statement }: Pick<Store, "statement">, now: () => number) {
  return {
    /** Figures from the newest runs of the last days, by pipeline or project; the one with the newest run first. */
    read(by: SumsBy, caller: Caller): RunSum[] {
      const since = toTimestamp(now() - SUM_DAYS * DAY_MS);
      const { where, values } = allOf(
        [`runs.created_at >= ? AND ${idsSince("runs", "created_at")}`, since, since],
        ownUnlessAdmin(caller, WHOSE.runs),
      );
      const rows = statement<Row & { key: string | null }>(
        `SELECT ${by}_id AS key, status, cost_nano, calls_without_price, created_at
         FROM runs ${where} ORDER BY id DESC LIMIT ${SUMMED_MAX}`,
      ).all(...values);
      const byKey = Map.groupBy(rows, ({ key }) => key);
      const today = toTimestamp(now()).slice(0, 10);
      return [...byKey].flatMap(([key, some]) => (key === null ? [] : [sumOf(key, some, today)]));
    },
  };
}

/** @param rows newest first. @param today today's date, UTC. */
function sumOf(key: string, rows: readonly Row[], today: string): RunSum {
  const succeeded = rows.filter(({ status }) => status === "succeeded");
  const total = (of: (row: Row) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  return {
    key,
    runs: rows.length,
    runs_today: rows.filter(({ created_at }) => created_at.startsWith(today)).length,
    succeeded: succeeded.length,
    failed: rows.filter(({ status }) => status === "failed").length,
    cost_usd: toUsd(total(({ cost_nano }) => cost_nano)),
    calls_without_price: total(({ calls_without_price }) => calls_without_price),
    usual_cost_usd: succeeded.some(({ calls_without_price }) => calls_without_price > 0)
      ? null
      : median(succeeded.map(({ cost_nano }) => toUsd(cost_nano))),
    last_run_at: rows[0]!.created_at,
  };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
