/** Rows of jobs: which are taken next, and when the next is due. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { shownOf } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { jobs as table } from "../../store/tables/jobs.ts";
import { ownUnlessAdmin, WHOSE } from "../../store/whose.ts";
import { Job } from "./model.ts";

export type JobRow = typeof table.$inferSelect;

export type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore({ rows: rowsOf, statement }: Store, clock: Clock) {
  const rows = rowsOf(table);
  const find = (id: string): JobRow | undefined => rows.find({ id });
  return {
    find,
    /** The job of that kind and key that has not ended. */
    live: (kind: string, key: string): JobRow | undefined => rows.find({ kind, key, finished_at: null }),
    add: rows.add,
    /** @returns the row after the change; undefined when there is none. */
    update(id: string, fields: Partial<JobRow>): JobRow | undefined {
      rows.update({ ...fields, updated_at: toTimestamp(clock.now()) }, { id });
      return find(id);
    },
    /**
     * The caller's own jobs, or all for an administrator; newest first. Holds one row more than the page when there is
     * a next page.
     */
    page: (page: Page, caller: Caller): JobRow[] => rows.page([ownUnlessAdmin(caller, WHOSE.jobs)], page),
    listUnfinished: (): JobRow[] => rows.list([{ finished_at: null }], { order: "id" }),
    /** The newest of a project's jobs of that kind. */
    latestOf: (project_id: string, kind: string): JobRow | undefined =>
      rows.list([{ project_id, kind }], { order: "id DESC", limit: 1 })[0],
    /** The next queued job of that kind that is due, except jobs that are exclusive with a running one. */
    next(kind: string, running: readonly string[]): JobRow | undefined {
      const row = statement<{ id: string }>(
        `SELECT id FROM jobs
         WHERE kind = ? AND state = 'queued' AND run_at <= ?
           AND (exclusive IS NULL OR exclusive NOT IN (SELECT value FROM json_each(?)))
         ORDER BY priority DESC, run_at, id LIMIT 1`,
      ).get(kind, clock.now(), JSON.stringify(running));
      return row === undefined ? undefined : find(row.id);
    },
    /** When the earliest job that is not due yet becomes due, ms since the epoch. */
    nextAt: (): number | null =>
      statement<{ at: number | null }>("SELECT min(run_at) AS at FROM jobs WHERE state = 'queued' AND run_at > ?").get(
        clock.now(),
      )!.at,
    handOver: (from: string, to: string | null) => void rows.update({ user_id: to }, { user_id: from }),
  };
}

/** @param now ms since the epoch. */
export function presentJob(row: JobRow, now: number): Job {
  const { state, run_at, failures, interruptions, error_code, error_message } = row;
  return {
    ...shownOf(Job, row),
    attempt: failures + interruptions + 1,
    due_at: state === "queued" && run_at > now ? toTimestamp(run_at) : null,
    error: error_code === null ? null : { code: error_code, message: error_message ?? "" },
  };
}
