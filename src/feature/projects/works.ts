/**
 * Work on a branch of a project: runs, and sessions, which are chats, swarms with their tasks, spawned work and ticks
 * of routines. It gives one form to the two tables that hold them.
 */
import { isId } from "../../core/ids.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import type { Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import { sessions } from "../../store/tables/sessions.ts";

export interface WorkRow {
  /** Id of the run or the session. */
  id: string;
  kind: "run" | SessionKind;
  /** Null for work without a project; its files are in a folder of its own. */
  project_id: string | null;
  branch: string | null;
  /** The owner. */
  user_id: string | null;
  agent_id: string | null;
  /** The task that was given, or a title of it. */
  title: string;
  /** Commit from which the changes are counted; null: the work has not begun. */
  base_commit: string | null;
  /** What the working copy lacks, as a sentence. */
  workspace_notice: string | null;
  /** The last merge. The fields are those of the table of runs. */
  merged_commit: string | null;
  merged_into: string | null;
  merged_head: string | null;
  /** Status of the run or the session. */
  status: string;
  /** RFC 3339; null: more work may follow. */
  ended_at: string | null;
  /** Session into whose branch this work is merged when it succeeds. */
  joins: string | null;
}

type Kept = Pick<WorkRow, "base_commit" | "workspace_notice" | "merged_commit" | "merged_into" | "merged_head">;

export type Works = ReturnType<typeof createWorks>;

const SHARED = "base_commit, workspace_notice, merged_commit, merged_into, merged_head, status";
const RUN = `SELECT id, 'run' AS kind, project_id, branch, created_by AS user_id, NULL AS agent_id,
  task_description AS title, finished_at AS ended_at, NULL AS joins, ${SHARED} FROM runs WHERE id = ?`;
const SESSION = `SELECT id, kind, project_id, branch, user_id, agent_id, coalesce(title, 'Chat') AS title, ended_at,
  iif(branch IS NULL, NULL, parent_id) AS joins, ${SHARED} FROM sessions WHERE id = ?`;
const NEEDED = {
  run: `SELECT 1 FROM runs WHERE id = @id AND finished_at IS NULL
    UNION ALL SELECT 1 FROM executions WHERE run_id = @id AND finished_at IS NULL
    UNION ALL SELECT 1 FROM previews WHERE run_id = @id LIMIT 1`,
  session: `SELECT 1 FROM sessions WHERE id = @id AND ended_at IS NULL
    UNION ALL SELECT 1 FROM sessions JOIN executions ON executions.session_id = sessions.id
      WHERE sessions.work_id = @id AND executions.finished_at IS NULL LIMIT 1`,
};

const runBranch = (runId: string): string => `run/${runId}`;
/** First parts of the names of branches that are made for runs and sessions. */
export const BRANCH_PREFIXES = ["run", "chat", "routine", "swarm", "spawn"] as const;
const WORK_BRANCH = /^(?:run|chat|routine|swarm|spawn)\/((?:run|sess)_\w+)$/;

/** Id of the run or session that a branch was made for; undefined for a branch of the repository. */
export const workOfBranch = (branch: string): string | undefined => WORK_BRANCH.exec(branch)?.[1];
/** Whether that run or session may have a working copy. */
export const isWorkId = (id: string): boolean => isId("run", id) || isId("session", id);

export function createWorks({ rows, statement }: Pick<Store, "rows" | "statement">) {
  const ofRuns = rows(runs);
  const ofSessions = rows(sessions);
  const find = (id: string): WorkRow | undefined =>
    statement<WorkRow>(isId("run", id) ? RUN : SESSION).get([id]) ?? undefined;
  return {
    find,
    /** The branch on which this run or session works; null unless it is a project's. */
    branchOf: (id: string): string | null => (isId("run", id) ? runBranch(id) : (find(id)?.branch ?? null)),
    /** The run or session whose working copy a session works in. */
    ofSession: (id: string): string | undefined =>
      statement<string | null>("SELECT coalesce(run_id, work_id) FROM sessions WHERE id = ?").pluck().get(id) ??
      undefined,
    update(id: string, fields: Partial<Kept>): void {
      if (isId("run", id)) ofRuns.update(fields, { id });
      else ofSessions.update(fields, { id });
    },
    /** Whether the work has not ended, or its working copy is still used. */
    isNeeded: (id: string): boolean => statement(NEEDED[isId("run", id) ? "run" : "session"]).get({ id }) !== undefined,
    /** Number of executions of sessions that are at work on any branch of the project. */
    atWork: (projectId: string): number =>
      statement<number>(
        `SELECT count(*) FROM executions JOIN sessions ON sessions.id = executions.session_id
         WHERE executions.status IN ('queued', 'running') AND sessions.project_id = ? AND sessions.work_id IS NOT NULL`,
      )
        .pluck()
        .get(projectId) ?? 0,
  };
}
