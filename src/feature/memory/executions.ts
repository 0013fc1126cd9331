/** Memory as executions use it: whether what they write may be trusted, what each recalled and wrote, and undoing it. */
import { notFound } from "../../core/errors.ts";
import type { ExecutionInfo, ToolGroup, ToolSource } from "../../engine/tool.ts";
import type { Caller } from "../../http/caller.ts";
import { badCursor, type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { digestOf } from "./entry-file.ts";
import type { ExecutionMemory, MemoryRecall, TakenBack } from "./model.ts";
import type { Memory } from "./service.ts";

export interface ExecutionsDeps {
  store: Store;
  memory: Memory;
  /** Everything that brings tools to executions. */
  toolSources(): readonly ToolSource[];
}

export type ExecutionMemories = ReturnType<typeof createExecutionMemories>;

const OUTSIDE_GROUPS: ReadonlySet<ToolGroup> = new Set(["web", "mcp"]);
/** Tools of other groups that show text of strangers. */
const OUTSIDE_NAMES = /document|transcript|issue|pull_request/;
/** The sessions of the same tree or run: what one of them read, the others may have got from it. */
const RELATED = `SELECT s.id FROM sessions s JOIN sessions mine ON mine.id = ?
  WHERE s.root_id = mine.root_id OR (mine.run_id IS NOT NULL AND s.run_id = mine.run_id)`;

const RECALL_CURSOR = /^([\d:.TZ-]{20,30})\|(\w{1,64})$/;

export function createExecutionMemories({ store, memory, toolSources }: ExecutionsDeps) {
  const { statement } = store;
  const exists = (sql: string, ...values: string[]): boolean => statement(sql).get(...values) !== undefined;

  /** Whether it, or what led to it, has read text that no person of this server wrote. */
  async function hasReadOutside(execution: ExecutionInfo): Promise<boolean> {
    const { sessionId } = execution;
    if (execution.kind === "ingest") return true;
    if (exists(`SELECT 1 FROM memory_recalls WHERE trusted = 0 AND session_id IN (${RELATED}) LIMIT 1`, sessionId))
      return true;
    const attached = `SELECT 1 FROM messages WHERE session_id IN (${RELATED}) AND content LIKE '%"attachment_id":%' LIMIT 1`;
    if (exists(attached, sessionId)) return true;
    const written = `SELECT 1 FROM agent_messages m JOIN executions x ON x.id = m.read_execution_id
      WHERE m.outside = 1 AND x.session_id IN (${RELATED}) LIMIT 1`;
    if (exists(written, sessionId)) return true;
    const called = statement<string>(`SELECT DISTINCT tool FROM tool_calls WHERE session_id IN (${RELATED})`)
      .pluck()
      .all(sessionId);
    const groups = new Map<string, ToolGroup>();
    for (const source of toolSources()) {
      if (!source.names().some((name) => called.includes(name))) continue;
      for (const tool of await source.for(execution)) groups.set(tool.name, tool.group);
    }
    // A tool that does not exist any more may have been a tool server's.
    const isOutside = (name: string) => OUTSIDE_NAMES.test(name) || OUTSIDE_GROUPS.has(groups.get(name) ?? "mcp");
    return called.some(isOutside);
  }

  /** @throws Problem 404 unknown, or another user's. */
  function assertOwn(executionId: string, caller: Caller): void {
    const row = statement<{ user_id: string | null }>(
      "SELECT s.user_id FROM executions x JOIN sessions s ON s.id = x.session_id WHERE x.id = ?",
    ).get(executionId);
    // A consolidation is not an execution: its writes name its job and the user who asked for it.
    const asked = "SELECT 1 FROM memory_versions WHERE execution_id = ? AND user_id = ?";
    if (!row && caller.userId !== undefined && exists(asked, executionId, caller.userId)) return;
    const known = row ?? (caller.admin && exists("SELECT 1 FROM memory_versions WHERE execution_id = ?", executionId));
    if (!known || !(caller.admin || (row !== undefined && row.user_id === caller.userId))) throw notFound("execution");
  }
  const writtenBy = (executionId: string) =>
    statement<{ vault: string; entry: string; first: number; last: number }>(
      `SELECT vault, entry, min(id) AS first, max(id) AS last FROM memory_versions WHERE execution_id = ?
       GROUP BY vault, entry ORDER BY first`,
    ).all(executionId);
  const version = (id: number) =>
    statement<{
      before: string | null;
      after_digest: string | null;
    }>("SELECT before, after_digest FROM memory_versions WHERE id = ?").get(id)!;

  return {
    hasReadOutside,
    /** What the execution was given of memory and what it wrote. */
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
    /** Who was given an entry, newest first: of a user's own work alone, of everybody's for administrators. */
    recallsOf(vault: string, entry: string, page: Page, caller: Caller): ListAnswer<MemoryRecall> {
      memory.get(vault, entry, caller);
      const [, at, id] = page.after === null ? [] : (RECALL_CURSOR.exec(page.after) ?? [""]);
      if (page.after !== null && id === undefined) throw badCursor();
      const rows = statement<MemoryRecall>(
        `SELECT r.execution_id, r.session_id, s.agent_id, s.kind, s.title, s.run_id, r.at
         FROM memory_recalls r JOIN sessions s ON s.id = r.session_id
         WHERE r.vault = ? AND r.entry = ? AND (? OR s.user_id IS ?)
           AND (? IS NULL OR (r.at, r.execution_id) < (?, ?))
         ORDER BY r.at DESC, r.execution_id DESC LIMIT ?`,
      ).all(
        ...[vault, entry, caller.admin ? 1 : 0, caller.userId ?? null],
        ...[at ?? null, at ?? null, id ?? null, page.limit + 1],
      );
      const keyOf = (row: MemoryRecall) => `${row.at}|${row.execution_id}`;
      return listAnswer(rows, page, keyOf, (row) => row);
    },
    /** Puts back what every entry was before the execution wrote it, but for those that were changed since. */
    takeBack(executionId: string, caller: Caller): TakenBack {
      assertOwn(executionId, caller);
      const result: TakenBack = { execution_id: executionId, taken_back: [], left: [] };
      for (const { vault, entry, first, last } of writtenBy(executionId).reverse()) {
        const { before } = version(first);
        const now = memory.fileDigest(vault, entry);
        if (now === (before === null ? null : digestOf(before))) continue;
        if (now !== version(last).after_digest) {
          result.left.push({ agent_id: vault, entry, reason: "It has changed since." });
          continue;
        }
        memory.save(vault, entry, before, { userId: caller.userId });
        result.taken_back.push({ agent_id: vault, entry });
      }
      return result;
    },
  };
}
