/** States of tasks' runs, read from rows. */
import type { Store } from "../../store/store.ts";
import type { RunState } from "./execution.ts";

export const runStates =
  ({ statement }: Store) =>
  (runId: string): RunState | undefined => {
    const run = statement<Omit<RunState, "done">>(
      `SELECT id, status, created_by AS createdBy, pipeline_id AS pipelineId, error ->> '$.code' AS error
       FROM runs WHERE id = ?`,
    ).get([runId]);
    if (!run) return undefined;
    const done = statement<string>(
      "SELECT step_id FROM steps WHERE run_id = ? AND status = 'succeeded' AND superseded = 0",
    );
    return { ...run, done: done.pluck().all(runId) };
  };

/** The work to which a session belongs: its run, or else its tree of sessions. */
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

/** Whether the run has an open pull request, or will have one. */
export const pullsAwaited =
  ({ statement }: Store) =>
  (runId: string): boolean =>
    statement("SELECT 1 FROM codehost_runs WHERE run_id = ? AND (wants_pull = 1 OR pull_state = 'open')").get([
      runId,
    ]) !== undefined;
