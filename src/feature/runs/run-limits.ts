/** Limits of runs: their cost, and how many unfinished ones a user may have. */
import { invalidField, overLimit } from "../../core/errors.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { Caller } from "../../http/caller.ts";
import type { RunStore } from "./store.ts";

export interface RunLimitsDeps {
  rows: RunStore;
  /** Budget of runs whose pipeline names none, USD; null: no limit. */
  defaultBudgetUsd(): number | null;
  /** Most unfinished runs of one user. */
  mostUnfinished(): number;
  /** @throws Problem 413 `workspaces_full` when the files of that user's runs and chats leave no room. */
  assertWorkspaces(userId: string | null): void;
}

export type RunLimits = ReturnType<typeof createRunLimits>;

export function createRunLimits({ rows, ...deps }: RunLimitsDeps) {
  /** Users may set a smaller budget than the pipeline's, administrators any. @throws Problem 422. */
  const assertBudget = (wanted: number | undefined, { defaults }: PipelineDefinition, caller: Caller): void => {
    const most = defaults?.budget_usd ?? deps.defaultBudgetUsd();
    if (wanted !== undefined && !caller.admin && most !== null && wanted > most)
      throw invalidField("/budget_usd", `Runs of this pipeline may cost $${most}`);
  };

  /**
   * Checks limits before a run begins or begins again. Without accounts there are no limits per user.
   * @param userId the run's owner.
   * @throws Problem 429 `too_many_runs`, 413 `workspaces_full`.
   */
  const assertRoom = (userId: string | null): void => {
    if (userId === null) return;
    const [current, limit] = [rows.countLiveOf(userId), deps.mostUnfinished()];
    const remedy = "Wait for some to end, or cancel them. An administrator can change limits.user_unfinished_runs.";
    if (current >= limit) throw overLimit("too_many_runs", "runs that have not ended", current, limit, remedy);
    deps.assertWorkspaces(userId);
  };

  return { assertBudget, assertRoom };
}
