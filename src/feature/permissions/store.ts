/** Rows of requests and of remembered answers. */
import type { Asker } from "../../core/ownership.ts";
import type { Execution } from "../../engine/execution.ts";
import { seekBelow } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { permissionAnswers, permissionRequests } from "../../store/tables/permissions.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";

export type RequestRow = typeof permissionRequests.$inferSelect;
export type AnswerRow = typeof permissionAnswers.$inferSelect;

export interface AnswerFilter {
  agent_id?: string | undefined;
  run_id?: string | undefined;
  session_id?: string | undefined;
}

/** The work that a request is about. */
export interface WorkOfRequest {
  id: string;
  kind: string;
  title: string | null;
  user_id: string | null;
  run_id: string | null;
  step_id: string | null;
  project_id: string | null;
  root_id: string;
  task_description: string | null;
}

const WORK = `SELECT s.id, s.kind, s.title, s.user_id, s.run_id, s.step_id, s.project_id, s.root_id, runs.task_description
  FROM sessions s LEFT JOIN runs ON runs.id = s.run_id WHERE s.id = ?`;
const COVERED = `SELECT rule FROM permission_answers WHERE agent_id = @agent
  AND (run_id IS NULL AND session_id IS NULL OR run_id = @run OR session_id = @root)`;
const NEXT = "SELECT min(deadline) FROM permission_requests WHERE state = 'waiting'";
const WAITING = "SELECT 1 FROM permission_requests WHERE execution_id = ? AND state = 'waiting' LIMIT 1";

export type PermissionStore = ReturnType<typeof createPermissionStore>;

export function createPermissionStore({ rows, statement }: Pick<Store, "rows" | "statement">) {
  const requests = rows(permissionRequests);
  const answers = rows(permissionAnswers);
  return {
    insert: requests.add,
    find: (id: string): RequestRow | undefined => requests.find({ id }),
    ofCall: (session_id: string, call_id: string): RequestRow | undefined => requests.find({ session_id, call_id }),
    update: (id: string, change: Partial<RequestRow>): number => requests.update(change, { id }),
    isWaiting: (executionId: string): boolean => statement(WAITING).get(executionId) !== undefined,
    /** Oldest first. */
    ofExecution: (execution_id: string): RequestRow[] => requests.list([{ execution_id }], { order: "id" }),
    waitingOf: (execution_id: string): RequestRow[] => requests.list([{ execution_id }, ["state = 'waiting'"]]),
    waitingOfAgent: (agent_id: string): RequestRow[] => requests.list([{ agent_id }, ["state = 'waiting'"]]),
    /** Waiting requests whose time is over. @param at ms since the epoch. */
    late: (at: number): RequestRow[] => requests.list([["state = 'waiting'"], [`deadline <= ${Math.floor(at)}`]]),
    nextDeadline: (): number | null => statement<number | null>(NEXT).pluck().get() ?? null,
    /** Newest first. */
    list(isWaiting: boolean, asker: Asker, after: string | null, limit: number): RequestRow[] {
      const state = isWaiting ? "state = 'waiting'" : "state <> 'waiting'";
      return requests.list(
        [buildReadCondition(asker, WHOSE.permission_requests), [state], seekBelow("id", { after })],
        {
          order: "id DESC",
          limit,
        },
      );
    },
    work: (sessionId: string): WorkOfRequest | undefined => statement<WorkOfRequest>(WORK).get(sessionId),
    /** Texts of the rules that need no further question in that work. */
    rememberedIn({ agentId, run, root }: { agentId: Execution["agentId"]; run: string | null; root: string }) {
      return new Set(statement<string>(COVERED).pluck().all({ agent: agentId, run, root }));
    },
    answers,
    remember: (row: AnswerRow): boolean => answers.insertIfNew(row),
    listAnswers(filter: AnswerFilter, asker: Asker, after: string | null, limit: number): AnswerRow[] {
      return answers.list([buildReadCondition(asker, WHOSE.permission_answers), filter, seekBelow("id", { after })], {
        order: "id DESC",
        limit,
      });
    },
  };
}
