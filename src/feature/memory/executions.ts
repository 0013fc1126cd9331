/** The memory of each execution: what it recalled, what it wrote, and how to undo that. */
import { notFound } from "../../core/errors.ts";
import { firstLine } from "../../core/first-line.ts";
import type { Caller } from "../../http/caller.ts";
import { badCursor, type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { buildReadCondition, mayRead, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { type Entries, readerOf } from "./entries.ts";
import { digestOf } from "./entry-file.ts";
import type { ExecutionMemory, MemoryRecall, TakenBack } from "./model.ts";

interface ExecutionsDeps extends Pick<Core, "store"> {
  entries: Pick<Entries, "find" | "fileDigest" | "save">;
}

export type ExecutionMemories = ReturnType<typeof createExecutionMemories>;

const RECALL_CURSOR = /^([\d:.TZ-]{20,30})\|(\w{1,64})$/;

export function createExecutionMemories({ store, entries }: ExecutionsDeps) {
  const { statement } = store;
  const exists = (sql: string, ...values: string[]): boolean => statement(sql).get(...values) !== undefined;

  /** @throws Problem 404 for an unknown execution or another user's. */
  function assertOwn(executionId: string, caller: Caller): void {
    const row = statement<{ user_id: string | null; project_id: string | null }>(
      "SELECT s.user_id, s.project_id FROM executions x JOIN sessions s ON s.id = x.session_id WHERE x.id = ?",
    ).get(executionId);
    // A consolidation is not an execution: its writes name its job and the user who asked for it.
    const asked = "SELECT 1 FROM memory_versions WHERE execution_id = ? AND user_id = ?";
    if (!row && caller.userId !== undefined && exists(asked, executionId, caller.userId)) return;
    const known = row ?? (caller.admin && exists("SELECT 1 FROM memory_versions WHERE execution_id = ?", executionId));
    if (!known || !(caller.admin || (row && mayRead(caller, WHOSE_SESSIONS.recalling, row))))
      throw notFound("execution");
  }
  const writtenBy = (executionId: string) =>
    statement<{ vault: string; entry: string; first: number; last: number }>(
      `SELECT vault, entry, min(id) AS first, max(id) AS last FROM memory_versions WHERE execution_id = ?
       GROUP BY vault, entry ORDER BY first`,
    ).all(executionId);
  const loadVersion = (id: number) =>
    statement<{
      before: string | null;
      after_digest: string | null;
    }>("SELECT before, after_digest FROM memory_versions WHERE id = ?").get(id)!;

  return {
    /** What the execution recalled from memory and what it wrote. */
    recordOf(executionId: string, caller: Caller): ExecutionMemory {
      assertOwn(executionId, caller);
      const recalled = statement<{ agent_id: string; entry: string; trusted: number }>(
        "SELECT vault AS agent_id, entry, trusted FROM memory_recalls WHERE execution_id = ? ORDER BY at, entry",
      ).all(executionId);
      return {
        execution_id: executionId,
        recalled: recalled.map((one) => ({ ...one, trusted: one.trusted === 1 })),
        written: writtenBy(executionId).map(({ vault, entry }) => ({ agent_id: vault, entry })),
      };
    },
    /** Executions that recalled an entry, newest first: only the user's own work, or everybody's for administrators. */
    recallsOf(vault: string, entry: string, page: Page, caller: Caller): ListAnswer<MemoryRecall> {
      entries.find(vault, entry, readerOf(caller));
      const [, at, id] = page.after === null ? [] : (RECALL_CURSOR.exec(page.after) ?? [""]);
      if (page.after !== null && id === undefined) throw badCursor();
      const [whose, ...values] = buildReadCondition(caller, WHOSE_SESSIONS.recalling, "s") ?? ["1"];
      const rows = statement<MemoryRecall & { task: string | null }>(
        `SELECT r.execution_id, r.session_id, s.agent_id, s.kind, s.title, s.run_id, r.at,
           (SELECT substr(task_description, 1, 400) FROM runs WHERE runs.id = s.run_id) AS task
         FROM memory_recalls r JOIN sessions s ON s.id = r.session_id
         WHERE r.vault = ? AND r.entry = ? AND ${whose}
           AND (? IS NULL OR (r.at, r.execution_id) < (?, ?))
         ORDER BY r.at DESC, r.execution_id DESC LIMIT ?`,
      ).all(vault, entry, ...values, at ?? null, at ?? null, id ?? null, page.limit + 1);
      const keyOf = (row: MemoryRecall) => `${row.at}|${row.execution_id}`;
      return listAnswer(rows, page, keyOf, ({ task, ...row }) => ({
        ...row,
        title: row.title ?? (task === null ? null : firstLine(task)),
      }));
    },
    /**
     * Restores each entry to its text before the execution wrote it. Entries that were changed since are left and
     * listed.
     */
    takeBack(executionId: string, caller: Caller): TakenBack {
      assertOwn(executionId, caller);
      const result: TakenBack = { execution_id: executionId, taken_back: [], left: [] };
      for (const { vault, entry, first, last } of writtenBy(executionId).reverse()) {
        const { before } = loadVersion(first);
        const now = entries.fileDigest(vault, entry);
        if (now === (before === null ? null : digestOf(before))) continue;
        if (now !== loadVersion(last).after_digest) {
          result.left.push({ agent_id: vault, entry, reason: "It has changed since." });
          continue;
        }
        entries.save(vault, entry, before, { userId: caller.userId });
        result.taken_back.push({ agent_id: vault, entry });
      }
      return result;
    },
  };
}
