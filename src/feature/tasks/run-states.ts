/** States of the runs of tasks, from their rows. */
import { and, eq, or } from "drizzle-orm";
import type { Store } from "../../store/store.ts";
import { codehostRuns } from "../../store/tables/codehost.ts";
import { runs, steps } from "../../store/tables/runs.ts";
import type { RunState } from "./execution.ts";

export function runStates({ db }: Store): (runId: string) => RunState | undefined {
  return (runId) => {
    const run = db
      .select({ status: runs.status, createdBy: runs.created_by, error: runs.error, pipelineId: runs.pipeline_id })
      .from(runs)
      .where(eq(runs.id, runId))
      .get();
    if (!run) return undefined;
    const done = db
      .select({ id: steps.step_id })
      .from(steps)
      .where(and(eq(steps.run_id, runId), eq(steps.status, "succeeded"), eq(steps.superseded, false)))
      .all();
    return {
      ...{ id: runId, status: run.status, createdBy: run.createdBy, pipelineId: run.pipelineId },
      ...{ done: done.map(({ id }) => id), error: run.error?.code ?? null },
    };
  };
}

/** The work that a session belongs to: its run, else the tree of sessions that it is in. */
export function worksOf({ statement }: Pick<Store, "statement">) {
  return {
    of: (sessionId: string): string =>
      statement<string>("SELECT coalesce(run_id, root_id) FROM sessions WHERE id = ?").pluck().get([sessionId]) ??
      sessionId,
    isOpen: (id: string): boolean =>
      statement(
        `SELECT 1 FROM runs WHERE id = ? AND finished_at IS NULL
         UNION ALL SELECT 1 FROM sessions WHERE id = ? AND ended_at IS NULL`,
      ).get([id, id]) !== undefined,
  };
}

/** Whether a pull request of the run is open, or will be. */
export function pullsAwaited({ db }: Store): (runId: string) => boolean {
  return (runId) => {
    const awaited = or(eq(codehostRuns.wants_pull, true), eq(codehostRuns.pull_state, "open"));
    const row = db
      .select({ id: codehostRuns.run_id })
      .from(codehostRuns)
      .where(and(eq(codehostRuns.run_id, runId), awaited))
      .get();
    return row !== undefined;
  };
}
