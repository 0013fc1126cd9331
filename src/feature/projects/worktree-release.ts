/**
 * Working copies are removed when nothing needs them any more: the run has ended, and so has the last execution that works in its
 * copy. That is checked after each end of a run or an execution; a sweep finds what a crash left.
 */
import { and, eq, isNull } from "drizzle-orm";
import type { Logger } from "../../core/log.ts";
import type { Bus } from "../../store/bus.ts";
import type { Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import { executions } from "../../store/tables/sessions.ts";
import { RUN_ENDS } from "../runs/events.ts";
import { sessionEnded } from "../sessions/events.ts";
import type { RunOfProject, RunWorkspaces } from "./run-workspaces.ts";

export interface WorktreeReleaseDeps {
  store: Store;
  bus: Bus;
  log: Logger;
  workspaces: Pick<RunWorkspaces, "release" | "present">;
}

export interface WorktreeRelease {
  /** Releases every working copy on disk that nothing needs. */
  sweep(): Promise<void>;
  stop(): void;
}

export function createWorktreeRelease({ store: { db }, bus, log, workspaces }: WorktreeReleaseDeps): WorktreeRelease {
  const isNeeded = (runId: string): boolean => {
    const going = and(eq(runs.id, runId), isNull(runs.finished_at));
    const atWork = and(eq(executions.run_id, runId), isNull(executions.finished_at));
    return (
      db.select({ id: runs.id }).from(runs).where(going).get() !== undefined ||
      db.select({ id: executions.id }).from(executions).where(atWork).limit(1).get() !== undefined
    );
  };
  /** A run that is restarted meanwhile gets its copy again: it is prepared after this, in the project's order. */
  const release = async (run: RunOfProject): Promise<void> => {
    if (isNeeded(run.id)) return;
    await workspaces.release(run).catch((err) => log.warn({ err, run: run.id }, "working copy not removed"));
  };
  const stop = bus.subscribe([...RUN_ENDS, sessionEnded], ({ run_id: id, project_id }) => {
    if (id !== undefined && project_id !== undefined) void release({ id, project_id });
  });
  return {
    stop,
    async sweep() {
      for (const run of await workspaces.present()) await release(run);
    },
  };
}
