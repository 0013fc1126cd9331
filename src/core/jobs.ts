/**
 * What a background job is: a kind, the shape of its payload, and the work. Its row is the truth: a job is done once
 * its row says so, and a server that stopped or died before that starts it again with the same payload. So `run` must
 * be safe to run again: it checks what is done before it does it.
 */
import type { Static, TSchema } from "@sinclair/typebox";

export const JOB_STATES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
type JobState = (typeof JOB_STATES)[number];

export interface JobReport {
  /** 0–100. */
  percent?: number | undefined;
  /** What it is doing now, for people. */
  detail?: string | undefined;
  /** Further facts of this kind, e.g. the layers of an image; the latest counts. */
  progress?: Record<string, unknown> | undefined;
}

export type JobResult = Record<string, unknown>;

/** The job under way, as its work sees it. */
export interface RunningJob {
  id: string;
  /** 1 at first; higher when it is tried again. */
  attempt: number;
  userId: string | null;
  projectId: string | null;
  /** Aborts when the job is cancelled, and when the server stops. */
  signal: AbortSignal;
  /** Shown at most every 200 ms; kept in the row when the job ends. */
  report(report: JobReport): void;
}

/** How a job has ended. */
export interface EndedJob<Payload = unknown, Result extends JobResult = JobResult> {
  id: string;
  payload: Payload;
  state: Exclude<JobState, "queued" | "running">;
  result: Result | null;
  error: { code: string; message: string } | null;
  userId: string | null;
  projectId: string | null;
}

export interface JobOptions<Payload = unknown, Result extends JobResult = JobResult> {
  /** Jobs of this kind at once; 1 unless given. */
  parallel?: number;
  /** Jobs with the same word run one after another, whatever `parallel` allows: e.g. the project's id. */
  exclusive?(payload: Payload): string;
  /** Attempts when the work fails, with growing waits between them; 1 unless given. A 4xx problem is final at once. */
  attempts?: number;
  /** False: a job that a dead or stopped server left behind fails as `interrupted` instead of starting again. */
  resumable?: boolean;
  /** True: it acts on other machines, so it waits while this instance stands by as a copy of another. */
  outward?: boolean;
  /** False: its work has reached a point from which it must finish. Cancelling it is refused then. */
  mayCancel?(payload: Payload): boolean;
  /** Called in the transaction that writes the job's end, for rows that must change with it. SQL only. */
  ended?(job: EndedJob<Payload, Result>): void;
}

export interface JobDefinition<Schema extends TSchema = TSchema, Result extends JobResult = JobResult>
  extends JobOptions<Static<Schema>, Result> {
  /** snake_case, e.g. `pull_image`. */
  readonly kind: string;
  readonly payload: Schema;
  /**
   * The work. What it throws fails the job: a Problem is shown with code and words, anything else is logged only.
   * @returns the job's result.
   */
  run(payload: Static<Schema>, job: RunningJob): Promise<Result | undefined>;
}

/** Declares a kind of job; registered with the jobs, then enqueued by it. */
export const defineJob = <Schema extends TSchema, Result extends JobResult = JobResult>(
  kind: string,
  payload: Schema,
  run: JobDefinition<Schema, Result>["run"],
  options: JobOptions<Static<Schema>, Result> = {},
): JobDefinition<Schema, Result> => ({ ...options, kind, payload, run });
