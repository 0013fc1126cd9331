/**
 * The job that deletes history. Its rows (`deletions`, `deletion_items`) say what is left to do, so a server that was
 * killed continues where it was. It can be canceled until it begins; then it finishes. The order is: rows of runs and
 * sessions with their files, what else a project or user has, contents of files, rows that name them elsewhere, clones.
 * At the end the database is shrunk, so that no deleted byte is left in it.
 */
import { Type as t } from "@sinclair/typebox";
import { toTimestamp } from "../../core/clock.ts";
import { conflict } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { defineJob, type EndedJob, type RunningJob } from "../../core/jobs.ts";
import { shrink } from "../../store/shrink.ts";
import { deletions } from "../../store/tables/history.ts";
import type { Core } from "../feature.ts";
import { historyDeleted } from "./events.ts";
import { createMentions } from "./mentions.ts";
import type { HistoryRows, Item } from "./rows.ts";

interface DeletionDeps extends Pick<Core, "store" | "clock" | "audit"> {
  rows: HistoryRows;
  /** Ends a session that has no work under way. Called inside a transaction. */
  endSession(id: string): void;
  /** Removes the containers of these sessions. */
  removeContainers(sessions: readonly string[]): Promise<void>;
  /** Removes the files of a run or a session: its folder, its branch and its refs. */
  erase(work: { id: string; project_id: string | null }): Promise<void>;
  repack(projectId: string, signal: AbortSignal): Promise<void>;
  /** Removes content unless something still refers to it. */
  removeContent(sha256: string): Promise<void>;
  removeProject(id: string, actor: string): Promise<void>;
  removeUser(id: string, actor: string): void;
  /** Called when a deletion by age or size is done: there may be more to delete. */
  removedOld(): void;
  /** The number of backups made earlier: they still contain what was deleted. */
  earlierBackups(): number;
}

type Deletion = typeof deletions.$inferSelect;
type Work = RunningJob & { deletion: Deletion };

const Payload = t.Object({ deletion_id: t.String() });
const DELETION_ATTEMPTS = 5;
/** Number of runs and sessions whose rows are removed in one batch. */
const BATCH = 20;
const PAUSE_MS = 2;

export const notEnded = (active: readonly string[]) =>
  conflict(
    `${active.slice(0, 3).join(", ")}${active.length > 3 ? " and others" : ""} ${active.length === 1 ? "is" : "are"} at work. Cancel, or wait until the work has ended, then delete again.`,
    "history_active",
    { active },
  );

export function defineDeletion(deps: DeletionDeps) {
  const { store, rows, clock } = deps;
  const table = store.rows(deletions);
  const mentions = createMentions(store);
  const find = (id: string): Deletion | undefined => table.find({ id });

  /** Begins the deletion, which cannot be canceled from here on. @throws Problem 409 `history_active`. */
  function begin(deletion: Deletion): void {
    store.write(() => {
      const { id, kind, subject } = deletion;
      if (kind !== "age" && subject !== null) rows.gather(id, { kind, id: subject });
      const active = rows.active(id);
      if (active.length > 0) throw notEnded(active);
      for (const session of rows.open(id)) deps.endSession(session);
      table.update({ begun_at: toTimestamp(clock.now()) }, { id });
    });
  }

  function reportProgress({ deletion, report }: Work, detail: string): void {
    const { run, session } = rows.counts(deletion.id);
    const [all, done] = [run.all + session.all, run.done + session.done];
    report({ percent: all === 0 ? undefined : Math.floor((90 * done) / all), detail });
  }

  /** Removes the rows of each batch, in as many transactions as they need, and then its files. */
  async function removeHistory(work: Work): Promise<void> {
    const { id } = work.deletion;
    for (;;) {
      // Sessions come first, because a run's row says which sessions belong to it.
      const batch = rows.listRemaining(id, ["session"], BATCH);
      const found = batch.length > 0 ? batch : rows.listRemaining(id, ["run"], BATCH);
      if (found.length === 0) return;
      await removeBatch(work, found);
      const { run, session } = rows.counts(id);
      reportProgress(work, `${run.done} of ${run.all} runs, ${session.done} of ${session.all} transcripts`);
    }
  }
  async function removeBatch({ deletion, signal }: Work, batch: readonly Item[]): Promise<void> {
    store.write(() => {
      for (const { kind, id } of batch) if (kind === "session") rows.noteContents(deletion.id, kind, id);
    });
    for (let left = batch; left.length > 0; ) {
      left = store.write(() => left.filter(({ kind, id }) => !rows.remove(kind === "run" ? "run" : "session", id)));
      signal.throwIfAborted();
      await Bun.sleep(PAUSE_MS);
    }
    await deps.removeContainers(batch.map(({ id }) => id));
    for (const { id, project_id } of batch) await deps.erase({ id, project_id });
    store.write(() => {
      for (const item of batch) rows.note(deletion.id, item);
    });
  }

  /** Removes what a project or a user has besides runs and sessions. */
  async function removeRest({ deletion: { kind, subject, actor } }: Work): Promise<void> {
    if (subject === null || (kind !== "project" && kind !== "user")) return;
    while (!store.write(() => rows.remove(kind, subject))) await Bun.sleep(PAUSE_MS);
    if (kind === "project") await deps.removeProject(subject, actor);
    else deps.removeUser(subject, actor);
  }

  async function drain(work: Work, kind: "content" | "clone", act: (id: string) => Promise<void>): Promise<void> {
    for (;;) {
      const batch = rows.listRemaining(work.deletion.id, [kind], BATCH);
      if (batch.length === 0) return;
      for (const { id } of batch) {
        work.signal.throwIfAborted();
        await act(id);
      }
      store.write(() => {
        for (const item of batch) rows.note(work.deletion.id, item);
      });
    }
  }

  function finish({ deletion }: Work): { runs: number; sessions: number } {
    return store.write(({ emit, after }) => {
      const { id, kind, subject, actor } = deletion;
      if (kind === "age") after(deps.removedOld);
      const { run, session } = rows.counts(id);
      const done = { runs: run.all, sessions: session.all };
      table.remove({ id });
      // The stored disk usage names projects.
      store.statement("DELETE FROM facts WHERE name = 'disk_usage'").run();
      // A deletion by age that removed nothing is not audited.
      if (kind !== "age" || done.runs + done.sessions > 0)
        deps.audit({ action: "history.deleted", actor, subject: subject ?? undefined, data: { kind, ...done } });
      emit(historyDeleted, {
        user_id: actor.startsWith("usr_") ? actor : ADMINISTRATORS,
        data: { kind, id: subject, ...done },
      });
      return done;
    });
  }

  async function run({ deletion_id }: { deletion_id: string }, job: RunningJob) {
    const deletion = find(deletion_id);
    if (!deletion) return undefined;
    const work: Work = { ...job, deletion };
    job.signal.throwIfAborted();
    if (deletion.begun_at === null) begin(deletion);
    await removeHistory(work);
    await removeRest(work);
    job.report({ percent: 91, detail: "Files" });
    await drain(work, "content", deps.removeContent);
    job.report({ percent: 92, detail: "Events, jobs and notices that name it" });
    const ids = rows.ids(deletion_id);
    if (deletion.subject !== null) ids.add(deletion.subject);
    await mentions.remove(ids, job);
    while (store.write(rows.removeUnused)) await Bun.sleep(PAUSE_MS);
    job.report({ percent: 94, detail: "Packing repositories" });
    await drain(work, "clone", (id) => deps.repack(id, job.signal));
    // Indexing that was still running when the project was removed may have created its folder again.
    if (deletion.kind === "project") await removeRest(work);
    job.report({ percent: 96, detail: "Shrinking the database" });
    const { freed, isWalEmpty } = await shrink(store.sqlite, job.signal);
    job.report({ percent: 98, detail: "Overwriting what is left in the database" });
    const isScrubbed = await store.scrub(job.signal);
    const done = finish(work);
    return {
      ...done,
      freed_bytes: freed,
      wal_emptied: isWalEmpty && isScrubbed,
      earlier_backups: deps.earlierBackups(),
    };
  }

  return defineJob("delete_history", Payload, run, {
    attempts: DELETION_ATTEMPTS,
    mayCancel: ({ deletion_id }) => find(deletion_id)?.begun_at === null,
    /** Forgets a deletion that never began. The row of one that began stays, and the next start continues it. */
    onEnd({ payload: { deletion_id }, state }: EndedJob<{ deletion_id: string }>) {
      if (state !== "succeeded") table.remove({ id: deletion_id, begun_at: null });
    },
  });
}
