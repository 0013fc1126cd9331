/**
 * How jobs end, are tried again and are put back in the queue: the changes of their rows, and the events about them.
 */
import { toTimestamp } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { type JobDefinition, type JobReport, type JobResult, waitAfter } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masker } from "../../core/masking.ts";
import type { Core } from "../feature.ts";
import { jobProgress } from "./events.ts";
import { type JobRow, type JobStore, presentJob } from "./store.ts";

export interface OutcomesDeps extends Pick<Core, "store" | "clock" | "log"> {
  rows: JobStore;
  /** Masks secrets in reports, which may hold text from programs and other machines. */
  masker: Pick<Masker, "text" | "json">;
  definitionOf(kind: string): JobDefinition | undefined;
  /** The newest report of a job that runs in this process. */
  latestOf(id: string): JobReport | undefined;
}

type JobEnd =
  | { state: "succeeded"; result: JobResult | null }
  | { state: "failed"; error: { code: string; message: string } }
  | { state: "cancelled" };

export const INTERRUPTED = { code: "interrupted", message: "The server stopped before it was done." };
/** Waits get up to a quarter longer, so that many jobs that failed together do not come again at once. */
const spread = (ms: number): number => ms * (1 + Math.random() / 4);

const refsOf = (row: JobRow) => ({
  project_id: row.project_id ?? undefined,
  // A project's job without an owner is visible to everybody who sees the project.
  user_id: row.user_id ?? (row.project_id === null ? ADMINISTRATORS : undefined),
});

const dataOf = (row: JobRow, now: number) => {
  const { kind, state: at, percent, detail, subject, error, progress } = presentJob(row, now);
  return { job_id: row.id, kind, state: at, percent, detail, subject, error, progress: progress ?? undefined };
};

export function createOutcomes({ store, rows, clock, log, masker, definitionOf, latestOf }: OutcomesDeps) {
  /** Changes a job's row and publishes the change; joins the transaction around it. */
  const change = (id: string, fields: Partial<JobRow>): JobRow | undefined =>
    store.write(({ emit }) => {
      const row = rows.update(id, fields);
      if (row) emit(jobProgress, { ...refsOf(row), data: dataOf(row, clock.now()) });
      return row;
    });
  /** The row, with the progress that the job reported since the row was written. */
  const toCurrent = (row: JobRow): JobRow => ({ ...row, ...latestOf(row.id) });

  /** Writes a job's end; joins the transaction around it. */
  function end(row: JobRow, how: JobEnd): void {
    store.write(() => {
      const error = how.state === "failed" ? masker.json(how.error) : null;
      const result = how.state === "succeeded" ? masker.json(how.result) : null;
      const { percent, detail, progress } = toCurrent(row);
      change(row.id, {
        state: how.state,
        result,
        progress,
        finished_at: toTimestamp(clock.now()),
        ...(how.state === "succeeded" ? { percent: 100, detail } : { percent, detail }),
        ...(how.state === "cancelled" ? { detail: "It was cancelled." } : {}),
        error_code: error?.code ?? null,
        error_message: error?.message ?? null,
      });
      const { id, payload, user_id: userId, project_id: projectId } = row;
      definitionOf(row.kind)?.onEnd?.({ id, payload, state: how.state, result, error, userId, projectId });
    });
  }

  /** After a failed try: queues the job for another try later, or ends it as failed. */
  function settle(row: JobRow, definition: JobDefinition, error: unknown): void {
    const failures = row.failures + 1;
    const known = isProblem(error) ? error : undefined;
    if (!known) log.error({ err: error, job: row.id, kind: row.kind }, "job failed");
    const final = known !== undefined && known.status < 500;
    if (!final && failures < (definition.attempts ?? 1)) {
      const run_at = Math.ceil(clock.now() + spread(waitAfter(failures)));
      const detail = masker.text(known?.detail ?? "It failed and is tried again.");
      change(row.id, { state: "queued", failures, run_at, detail });
      return;
    }
    const message = known ? messageOf(known) : "Something went wrong here. The log has the details.";
    end(row, { state: "failed", error: { code: known?.code ?? "internal", message } });
  }

  /**
   * Queues a job again whose process stopped. A job ends instead if it was cancelled, cannot be resumed, or was
   * interrupted too often.
   */
  function putBack(row: JobRow, interruptions: number): void {
    const definition = definitionOf(row.kind);
    const isLast = interruptions >= LIMITS.jobInterruptions;
    if (row.cancel_requested) end(row, { state: "cancelled" });
    else if (!definition || definition.resumable === false || isLast) end(row, { state: "failed", error: INTERRUPTED });
    else change(row.id, { state: "queued", interruptions, percent: null, detail: null });
  }

  return {
    change,
    toCurrent,
    end,
    settle,
    putBack,
    /** Publishes a running job's report. The row does not hold it yet. */
    report: (row: JobRow, latest: JobReport): void =>
      store.emitSoon(jobProgress, {
        ...refsOf(row),
        data: dataOf({ ...row, state: "running", ...latest }, clock.now()),
      }),
  };
}
