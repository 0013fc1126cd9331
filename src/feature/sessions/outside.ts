/** Which work has read outside text: kept at the root of a tree of sessions, and of a run with the run, for good. */
import type { ExecutionInfo } from "../../engine/tool.ts";
import type { Store } from "../../store/store.ts";

export type OutsideMarks = ReturnType<typeof createOutsideMarks>;

const REASON = `SELECT coalesce(root.outside, runs.outside) FROM sessions s JOIN sessions root ON root.id = s.root_id
  LEFT JOIN runs ON runs.id = s.run_id WHERE s.id = ?`;
const MARK_ROOT = `UPDATE sessions SET outside = ?
  WHERE id = (SELECT root_id FROM sessions WHERE id = ?) AND outside IS NULL`;
const MARK_RUN = `UPDATE runs SET outside = ?
  WHERE id = (SELECT run_id FROM sessions WHERE id = ?) AND outside IS NULL`;

export function createOutsideMarks({ statement, write }: Pick<Store, "statement" | "write">) {
  const reasonOf = (sessionId: string): string | undefined =>
    statement<string | null>(REASON).pluck().get([sessionId]) ?? undefined;
  return {
    /** Why what this work leaves may be outside text: a sentence. Undefined: it, and what led to it, has read none. */
    reasonOf: ({ sessionId }: Pick<ExecutionInfo, "sessionId">): string | undefined => reasonOf(sessionId),
    /** Marks it, unless it is. @param reason one of the sentences of `core/outside-table.ts`. */
    mark({ sessionId }: Pick<ExecutionInfo, "sessionId">, reason: string): void {
      if (reasonOf(sessionId) !== undefined) return;
      write(() => {
        statement(MARK_ROOT).run([reason, sessionId]);
        statement(MARK_RUN).run([reason, sessionId]);
      });
    },
  };
}
