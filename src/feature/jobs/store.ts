/** Rows of jobs: which are to be taken next, and which wait for their time. */
import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { jobs as table } from "../../store/tables/jobs.ts";
import { asSql, ownUnlessAdmin, WHOSE } from "../../store/whose.ts";
import type { Job } from "./model.ts";

export type JobRow = typeof table.$inferSelect;

export interface JobStore {
  find(id: string): JobRow | undefined;
  /** The job of that kind and key that has not ended. */
  live(kind: string, key: string): JobRow | undefined;
  insert(row: JobRow): void;
  /** @returns the row as it is after, undefined when there is none. */
  update(id: string, fields: Partial<JobRow>): JobRow | undefined;
  /** The caller's own, an administrator's all; newest first, one more than the page holds when there is a next one. */
  page(page: Page, caller: Caller): JobRow[];
  unfinished(): JobRow[];
  /** The newest of a project's jobs of that kind. */
  latestOf(projectId: string, kind: string): JobRow | undefined;
  /** The next queued job of that kind whose time has come, leaving out those exclusive with what runs. */
  next(kind: string, running: readonly string[]): JobRow | undefined;
  /** When the next queued job is due that is not due now, ms since the epoch. */
  nextAt(): number | null;
  handOver(from: string, to: string | null): void;
}

export function createJobStore(store: Store, clock: Clock): JobStore {
  const { db, sqlite } = store;
  const one = (id: string) => eq(table.id, id);
  const next = () =>
    sqlite.prepare<unknown[], { id: string }>(`
      SELECT id FROM jobs
      WHERE kind = @kind AND state = 'queued' AND run_at <= @now
        AND (exclusive IS NULL OR exclusive NOT IN (SELECT value FROM json_each(@running)))
      ORDER BY priority DESC, run_at, id LIMIT 1`);
  const nextAt = () =>
    sqlite
      .prepare<unknown[], number | null>("SELECT min(run_at) FROM jobs WHERE state = 'queued' AND run_at > ?")
      .pluck();
  let statements: { next: ReturnType<typeof next>; nextAt: ReturnType<typeof nextAt> } | undefined;
  const prepared = () => {
    statements ??= { next: next(), nextAt: nextAt() };
    return statements;
  };
  const find = (id: string) => db.select().from(table).where(one(id)).get();
  return {
    find,
    live: (kind, key) =>
      db
        .select()
        .from(table)
        .where(and(eq(table.kind, kind), eq(table.key, key), isNull(table.finished_at)))
        .get(),
    insert: (row) => void db.insert(table).values(row).run(),
    update(id, fields) {
      const updated_at = timestamp(clock.now());
      return db
        .update(table)
        .set({ ...fields, updated_at })
        .where(one(id))
        .returning()
        .get();
    },
    page({ limit, after }, caller) {
      const mine = asSql(ownUnlessAdmin(caller, WHOSE.jobs));
      const rows = db
        .select()
        .from(table)
        .where(and(mine, after === null ? undefined : lt(table.id, after)));
      return rows
        .orderBy(desc(table.id))
        .limit(limit + 1)
        .all();
    },
    unfinished: () => db.select().from(table).where(isNull(table.finished_at)).orderBy(table.id).all(),
    latestOf: (projectId, kind) =>
      db
        .select()
        .from(table)
        .where(and(eq(table.project_id, projectId), eq(table.kind, kind)))
        .orderBy(desc(table.id))
        .limit(1)
        .get(),
    next(kind, running) {
      const row = prepared().next.get({ kind, now: clock.now(), running: JSON.stringify(running) });
      return row === undefined ? undefined : find(row.id);
    },
    nextAt: () => prepared().nextAt.get(clock.now()) ?? null,
    handOver: (from, to) => void db.update(table).set({ user_id: to }).where(eq(table.user_id, from)).run(),
  };
}

/** @param now ms since the epoch. */
export function presentJob(row: JobRow, now: number): Job {
  const { id, kind, state, percent, detail, progress, subject, project_id, result } = row;
  const { created_at, updated_at, finished_at, error_code, error_message } = row;
  const waits = state === "queued" && row.run_at > now;
  return {
    ...{ id, kind, state, percent, detail, progress, subject, project_id },
    attempt: row.failures + row.interruptions + 1,
    due_at: waits ? timestamp(row.run_at) : null,
    result,
    error: error_code === null ? null : { code: error_code, message: error_message ?? "" },
    ...{ created_at, updated_at, finished_at },
  };
}
