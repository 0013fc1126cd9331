/**
 * Records which work has read outside text. The mark stays for good, at the root of a tree of sessions and at the run,
 * if there is one.
 */
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
    /**
     * Why results of this work may be outside text, as a sentence. Undefined when neither this work nor what led to it
     * has read any.
     */
    reasonOf: ({ sessionId }: Pick<ExecutionInfo, "sessionId">): string | undefined => reasonOf(sessionId),
    /** Marks the work unless it is marked. @param reason one of the sentences of `core/outside-table.ts`. */
    mark({ sessionId }: Pick<ExecutionInfo, "sessionId">, reason: string): void {
      if (reasonOf(sessionId) !== undefined) return;
      write(() => {
        statement(MARK_ROOT).run([reason, sessionId]);
        statement(MARK_RUN).run([reason, sessionId]);
      });
    },
  };
}
