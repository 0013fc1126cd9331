/** Deletes history with everything that belongs to it, and protects parts of it from the retention settings. */
import { toTimestamp } from "../../core/clock.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { deletions, keptHistory } from "../../store/tables/history.ts";
import { buildReadCondition, WHOSE, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import { type defineDeletion, notEnded } from "./deletion.ts";
import { historyKept } from "./events.ts";
import type { HistoryKind, HistoryPreview, Kept } from "./model.ts";
import { createRights } from "./rights.ts";
import type { HistoryRows } from "./rows.ts";

interface HistoryDeps extends Pick<Core, "store" | "clock"> {
  rows: HistoryRows;
  jobs: Pick<Jobs, "enqueue" | "live">;
  deletion: ReturnType<typeof defineDeletion>;
}

const KINDS = { runs: "run", sessions: "session", projects: "project", users: "user" } as const;

const COUNTS = `SELECT
  (SELECT count(*) FROM deletion_items WHERE deletion_id = @deletion AND kind = 'run') AS runs,
  (SELECT count(*) FROM deletion_items WHERE deletion_id = @deletion AND kind = 'session') AS sessions,
  (SELECT coalesce(sum(message_count), 0) FROM sessions WHERE id IN
    (SELECT id FROM deletion_items WHERE deletion_id = @deletion AND kind = 'session')) AS messages,
  (SELECT count(*) FROM attachment_holds WHERE session_id IN
    (SELECT id FROM deletion_items WHERE deletion_id = @deletion AND kind = 'session')) AS attachments,
  (SELECT count(*) FROM tasks WHERE @kind = 'project' AND project_id = @id) AS tasks,
  (SELECT count(*) FROM documents WHERE (@kind = 'project' AND project_id = @id) OR (@kind = 'user' AND user_id = @id)) AS documents,
  (SELECT count(*) FROM pulse_routines WHERE (@kind = 'project' AND project_id = @id) OR (@kind = 'user' AND user_id = @id)) AS routines,
  (SELECT count(*) FROM memory_entries WHERE @kind = 'user' AND owner_id = @id) AS memories,
  (SELECT count(*) FROM workspace_sizes WHERE name IN (SELECT id FROM deletion_items WHERE deletion_id = @deletion)) AS folders,
  (SELECT coalesce(sum(bytes), 0) FROM workspace_sizes WHERE name IN
    (SELECT id FROM deletion_items WHERE deletion_id = @deletion)) AS bytes`;

const STAYS = {
  always: "What it cost, in the sums of usage, and the audit log: numbers, ids and times, without texts.",
  backups: "Backups that were made before, here or elsewhere: delete those as well.",
  merged: "What was merged into another branch, or pushed to a code host.",
  memory: "What agents wrote into their memory: see Memory.",
  tasks: "Tasks on the boards of projects.",
};

export function createHistory({ store, rows, clock, jobs, deletion }: HistoryDeps) {
  const { statement } = store;
  const table = store.rows(deletions);
  const kept = store.rows(keptHistory);
  const { ownerOf, assertMayDelete, assertMayKeep, assertNotLast } = createRights(store);

  const insert = (row: Omit<typeof deletions.$inferInsert, "created_at">): void =>
    table.insert({ ...row, created_at: toTimestamp(clock.now()) });
  /** Can be called inside a transaction. */
  function noteKept(id: string, caller: Caller, isKept: boolean): void {
    store.write(({ emit }) => {
      if ((kept.find({ id }) !== undefined) === isKept) return;
      if (isKept) kept.insert({ id, kept_by: caller.userId ?? null, kept_at: toTimestamp(clock.now()) });
      else kept.remove({ id });
      emit(historyKept, { user_id: ownerOf(id, caller) ?? ADMINISTRATORS, data: { id, kept: isKept } });
    });
  }
  /** Counts what a deletion would remove: collects it, then discards the collection. */
  function preview(what: HistoryKind, id: string, caller: Caller): HistoryPreview {
    const kind = KINDS[what];
    assertMayDelete(kind, id, caller);
    const draft = newId("deletion");
    return store.write(() => {
      insert({ id: draft, kind, subject: id, actor: "" });
      rows.gather(draft, { kind, id });
      type Counts = Omit<HistoryPreview, "kind" | "id" | "active" | "stays">;
      const counts = statement<Counts>(COUNTS).get({ deletion: draft, kind, id })!;
      const active = rows.active(draft).length;
      table.remove({ id: draft });
      const stays = [
        STAYS.always,
        ...(kind === "session" || kind === "project" ? [] : [STAYS.merged]),
        ...(kind === "user" || kind === "run" ? [STAYS.tasks] : []),
        STAYS.memory,
        STAYS.backups,
      ];
      return { kind: what, id, ...counts, active, stays };
    });
  }

  /**
   * Starts the job that deletes. Can be called inside a transaction. @throws Problem 403, 404, 409 `history_active`.
   */
  function remove(what: HistoryKind, id: string, caller: Caller): Job {
    const kind = KINDS[what];
    assertMayDelete(kind, id, caller);
    if (kind === "user") assertNotLast(id);
    return store.write(() => {
      const known = table.find({ kind, subject: id });
      const live = known && jobs.live(deletion, known.id);
      if (live) return live;
      const deletionId = known?.id ?? newId("deletion");
      if (!known) {
        insert({ id: deletionId, kind, subject: id, actor: actorOf(caller) });
        rows.gather(deletionId, { kind, id });
        const active = rows.active(deletionId);
        if (active.length > 0) throw notEnded(active);
      }
      return enqueue(deletionId, id, caller.userId === id ? undefined : caller.userId);
    });
  }
  const enqueue = (deletion_id: string, subject: string, userId: string | undefined): Job =>
    jobs.enqueue(deletion, { deletion_id }, { key: deletion_id, subject, userId });

  return {
    preview,
    remove,
    /**
     * Deletes a session that has ended: its rows at once, the rest in the background. Can be called inside a
     * transaction.
     */
    removeEnded: (sessionId: string, caller: Caller): void =>
      store.write(() => {
        const id = newId("deletion");
        const begun_at = toTimestamp(clock.now());
        insert({ id, kind: "session", subject: sessionId, actor: actorOf(caller), begun_at });
        rows.gather(id, { kind: "session", id: sessionId });
        for (const session of rows.ids(id)) {
          rows.noteContents(id, "session", session);
          while (!rows.remove("session", session));
        }
        enqueue(id, sessionId, caller.userId);
      }),
    /** Deletes runs and sessions because of their age or size. Can be called inside a transaction. */
    removeOld(
      ids: readonly { kind: "run" | "session"; id: string; project_id: string | null }[],
      subject: string,
    ): void {
      store.write(() => {
        const id = newId("deletion");
        insert({ id, kind: "age", actor: "retention" });
        for (const item of ids)
          statement(
            "INSERT INTO deletion_items (deletion_id, kind, id, project_id) VALUES (@deletion, @kind, @id, @project_id)",
          ).run({ deletion: id, ...item });
        rows.gatherSessionsOfRuns(id);
        enqueue(id, subject, undefined);
      });
    },
    /** Whether a deletion by age or size is under way. */
    isRemovingOld: (): boolean => table.find({ kind: "age" }) !== undefined,
    /** Continues the deletions that an earlier process, or a failed job, has left. */
    resume(): void {
      for (const { id, subject } of table.list([]))
        if (!jobs.live(deletion, id)) enqueue(id, subject ?? "old history", undefined);
    },
    keep(id: string, caller: Caller): Kept {
      assertMayKeep(id, caller);
      return store.write(() => {
        noteKept(id, caller, true);
        return kept.find({ id })!;
      });
    },
    release(id: string, caller: Caller): void {
      assertMayKeep(id, caller);
      noteKept(id, caller, false);
    },
    /** @param one limits the answer to this run or chat. */
    listKept(page: Page, caller: Caller, one?: string): ListAnswer<Kept> {
      const [ofRuns, ...runValues] = buildReadCondition(caller, WHOSE.runs) ?? ["1"];
      const [ofSessions, ...sessionValues] = buildReadCondition(caller, WHOSE_SESSIONS.chat, "sessions") ?? ["1"];
      const found = statement<Kept>(
        `SELECT kept_history.* FROM kept_history WHERE id > ? AND id = coalesce(?, id) AND (
           EXISTS (SELECT 1 FROM runs WHERE runs.id = kept_history.id AND ${ofRuns})
           OR EXISTS (SELECT 1 FROM sessions WHERE sessions.id = kept_history.id AND ${ofSessions})) ORDER BY id LIMIT ?`,
      ).all(page.after ?? "", one ?? null, ...runValues, ...sessionValues, page.limit + 1);
      return listById(found, page, (row) => row);
    },
  };
}

export type History = ReturnType<typeof createHistory>;
