/**
 * A background job: its kind, the schema of its payload, and the work. Its row is authoritative: a job is done once its
 * row says so. If the server stops or dies before that, the job starts again with the same payload. So `run` must be
 * repeatable: it checks what is already done before it acts.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { HOUR_MS } from "./clock.ts";

export const JOB_STATES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
type JobState = (typeof JOB_STATES)[number];

export interface JobReport {
  /** 0–100. */
  percent?: number | undefined;
  /** What it is doing now, for people. */
  detail?: string | undefined;
  /** Further facts for this kind, e.g. the layers of an image. The latest report replaces earlier ones. */
  progress?: Record<string, unknown> | undefined;
}

export type JobResult = Record<string, unknown>;

/** The running job as its `run` sees it. */
export interface RunningJob {
  id: string;
  /** 1 at first; higher for each retry. */
  attempt: number;
  userId: string | null;
  projectId: string | null;
  /** Aborts when the job is cancelled, and when the server stops. */
  signal: AbortSignal;
  /** Reports progress. Shown at most every 200 ms, and kept in the row when the job ends. */
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
  /** Jobs with the same key run one after another, regardless of `parallel`: e.g. the project's id. */
  exclusive?(payload: Payload): string;
  /** Attempts when the work fails, with growing waits between them; 1 unless given. A 4xx problem is final at once. */
  attempts?: number;
  /** False: a job left by a dead or stopped server fails as `interrupted` instead of starting again. */
  resumable?: boolean;
  /** True: the job acts on other machines, so it waits while this instance stands by as a copy of another. */
  outward?: boolean;
  /** Returns false once the work must finish; canceling the job is then refused. */
  mayCancel?(payload: Payload): boolean;
  /** Called in the transaction that stores the job's end, for rows that must change together with it. SQL only. */
  onEnd?(job: EndedJob<Payload, Result>): void;
}

export interface JobDefinition<Schema extends TSchema = TSchema, Result extends JobResult = JobResult>
  extends JobOptions<Static<Schema>, Result> {
  /** snake_case, e.g. `pull_image`. */
  readonly kind: string;
  readonly payload: Schema;
  /**
   * The work. An error fails the job: a Problem is shown with its code and text, anything else is only logged.
   * @returns the job's result.
   */
  run(payload: Static<Schema>, job: RunningJob): Promise<Result | undefined>;
}

/** Declares a kind of job. It is registered with the jobs and then used to enqueue jobs. */
export const defineJob = <Schema extends TSchema, Result extends JobResult = JobResult>(
  kind: string,
  payload: Schema,
  run: JobDefinition<Schema, Result>["run"],
  options: JobOptions<Static<Schema>, Result> = {},
): JobDefinition<Schema, Result> => ({ ...options, kind, payload, run });

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = HOUR_MS;

/** The shortest wait before the next attempt, in ms: 1 s after the first failure, then 4 s, 16 s … up to an hour. */
export const waitAfter = (failures: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 4 ** (failures - 1));

/** The number of attempts whose waits add up to at least `ms`. */
export function attemptsOver(ms: number): number {
  let attempts = 1;
  for (let waited = 0; waited < ms; attempts++) waited += waitAfter(attempts);
  return attempts;
}
