/** The cost and duration of attempts, and the budget of the next one. */
import { msBetween } from "../../core/clock.ts";
import { toUsd } from "../../core/money.ts";
import type { Store } from "../../store/store.ts";
import type { PackedTask } from "../../store/tables/evals.ts";
import { executions } from "../../store/tables/sessions.ts";
import type { RunsService } from "../runs/service.ts";
import { WORK_STEP } from "./definition.ts";
import type { EvalRow } from "./scores.ts";
import type { AttemptRow } from "./store.ts";

export function createFigures(store: Store, runs: RunsService["rows"]) {
  const work = store.rows(executions);

  /** The cost, calls and duration of a run. */
  function figuresOf(runId: string, steps: ReturnType<RunsService["rows"]["stepsOf"]>) {
    const { cost_nano, calls_without_price, tokens } = runs.run(runId)!;
    const step = steps.findLast(({ step_id }) => step_id === WORK_STEP);
    const done = step?.execution_id ? work.find({ id: step.execution_id }) : undefined;
    const { started_at = null, finished_at = null, waited_ms = 0, turns = 0 } = done ?? {};
    const tool_errors = step?.session_id
      ? store
          .statement<number>("SELECT count(*) FROM tool_calls WHERE session_id = ? AND ok = 0")
          .pluck()
          .get(step.session_id)
      : 0;
    return {
      cost_nano,
      calls_without_price,
      tokens,
      model_calls: turns,
      tool_errors: tool_errors ?? 0,
      duration_ms: started_at && finished_at ? Math.max(0, msBetween(started_at, finished_at) - waited_ms) : null,
    };
  }

  /**
   * The budget of the next attempt, USD: its task's, limited to what the eval's budget leaves after the budgets of
   * running attempts. Undefined: no limit. "wait": nothing is left now, but running attempts may leave some. "none": it
   * is used up.
   */
  function budgetFor(row: EvalRow, task: PackedTask, all: readonly AttemptRow[]): number | undefined | "wait" | "none" {
    if (row.budget_usd === null || row.budget_usd === 0) return row.budget_usd ?? task.budget_usd ?? undefined;
    const atWork = all.filter(({ status }) => status === "running");
    const spent = toUsd(all.reduce((sum, one) => sum + one.cost_nano, 0));
    const reserved = atWork.reduce((sum, one) => sum + (runs.run(one.run_id!)?.budget_usd ?? Infinity), 0);
    const left = row.budget_usd - spent - reserved;
    if (left <= 0) return atWork.length > 0 ? "wait" : "none";
    return Math.min(task.budget_usd ?? left, left);
  }

  return { figuresOf, budgetFor };
}
