/** Rows of attempts without the recorded replies, and sums over them. */
import { toUsd } from "../../core/money.ts";
import { allOf, type Condition, createReader } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { evalAttempts, type evals } from "../../store/tables/evals.ts";
import type { Eval } from "./model.ts";

const COLUMNS = [
  ...(["id", "eval_id", "task", "worker", "agent_id", "model", "harness", "number", "status", "run_id"] as const),
  ...(["reason", "cost_nano", "calls_without_price", "tokens", "model_calls", "tool_errors"] as const),
  ...(["duration_ms", "finished_at"] as const),
] as const;

export type AttemptRow = Omit<typeof evalAttempts.$inferSelect, "turns">;

type EvalTotals = Omit<Eval, keyof typeof evals.$inferSelect>;

const TOTALS = `
  SELECT eval_id, count(DISTINCT task) AS tasks, count(*) AS total, sum(status NOT IN ('queued', 'running')) AS ended,
    sum(status = 'passed') AS passed, sum(status = 'failed') AS failed, sum(status = 'error') AS errors,
    sum(cost_nano) AS cost_nano, sum(calls_without_price) AS calls_without_price, sum(tokens) AS tokens
  FROM eval_attempts WHERE eval_id IN (SELECT value FROM json_each(?)) GROUP BY eval_id`;

export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(store: Store) {
  const reader = createReader(store.statement, evalAttempts, COLUMNS);
  const list = (id: string, rest: Condition, most: number): AttemptRow[] => {
    const { where, values } = allOf(["eval_id = ?", id], rest);
    return reader.all(`${where} ORDER BY eval_attempts.id LIMIT ?`, ...values, most);
  };
  return {
    rows: store.rows(evalAttempts),
    /** All attempts, in the order in which they run. */
    of: (evalId: string): AttemptRow[] => list(evalId, undefined, -1),
    page: list,
    ofRun: (runId: string): AttemptRow | undefined => reader.all("WHERE run_id = ? LIMIT 1", runId)[0],
    totals(evalIds: readonly string[]): Map<string, EvalTotals> {
      const found = store
        .statement<Omit<EvalTotals, "cost_usd"> & { eval_id: string; cost_nano: number }>(TOTALS)
        .all(JSON.stringify(evalIds));
      return new Map(
        found.map(({ eval_id, cost_nano, ...sums }) => [eval_id, { ...sums, cost_usd: toUsd(cost_nano) }]),
      );
    },
  };
}
