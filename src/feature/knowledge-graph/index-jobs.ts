/**
 * Index jobs: at most one per project. A later request joins the live job. A change while a job runs is indexed by a
 * job after it.
 */
import { availableParallelism } from "node:os";
import { type Static, Type as t } from "@sinclair/typebox";
import { conflict, notFound } from "../../core/errors.ts";
import { defineJob, type EndedJob, type RunningJob } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf } from "../../core/schema.ts";
import { PHASES } from "../../graph/model.ts";
import type { RemoteGraph } from "../../graph/serve/client.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import { indexComplete, indexProgress } from "./events.ts";
import type { IndexJob, Phase } from "./model.ts";

interface IndexJobsDeps {
  store: Store;
  jobs: Jobs;
  graphOf(projectId: string): Pick<RemoteGraph, "index">;
  /** Path of the SCIP index that the project's set-up names. */
  scipOf(projectId: string): string | undefined;
  /** The project's name, for the list of jobs. */
  nameOf(projectId: string): string;
}

interface IndexRequest {
  force: boolean;
  cause: IndexJob["cause"];
  userId?: string | undefined;
}

export type IndexJobs = ReturnType<typeof createIndexJobs>;

const Payload = t.Object({ project_id: t.String(), force: t.Boolean(), cause: oneOf("request", "workspace") });
type Payload = Static<typeof Payload>;
/** Share of each phase in the whole job, in percent, measured on repositories of 100 to 7,000 files. */
const WEIGHTS = [4, 55, 6, 20, 8, 7];
const PENDING: Phase[] = PHASES.map((name) => ({ name, state: "pending", percent: 0, done: 0, total: 0 }));
/**
 * Index jobs at once. Each has a process of its own, so projects do not wait for each other while there are processors.
 */
const PARALLEL = Math.max(2, availableParallelism());

export function createIndexJobs({ store, jobs, graphOf, scipOf, nameOf }: IndexJobsDeps) {
  /**
   * Projects that need another index job once their running job ends: they changed, or an index from scratch (true) was
   * asked for. A crash may lose this map; the interrupted job then runs again and sees the change.
   */
  const again = new Map<string, boolean>();

  async function run({ project_id, force }: Payload, { id, userId, signal, report }: RunningJob) {
    const { manifest, parsed, changed, scip, scipError } = await graphOf(project_id).index({
      force,
      signal,
      scip: scipOf(project_id),
      progress(now) {
        const [percent, phases] = [percentOf(now), [...now]];
        const phase = phases.find(({ state }) => state === "running")?.name;
        report({ percent, detail: phase?.replaceAll("_", " "), progress: { phases } });
        const data = { job_id: id, state: "running" as const, percent, phase: phase ?? null, phases };
        store.emitSoon(indexProgress, { project_id, user_id: userId ?? undefined, data });
      },
    });
    const { files, skipped, skippedCount, failed, unread, nodes, relationships, communities, processes } = manifest;
    const seen = { files, skipped, skipped_count: skippedCount, failed, unread, scip, scip_error: scipError };
    return { parsed, changed, report: seen, nodes, relationships, communities, processes };
  }
  function recordEnd({ id, payload: { project_id }, userId, state, result, error }: EndedJob<Payload>): void {
    const { report: _, ...counts } = result ?? {};
    const data = { job_id: id, state, ...(error ? { error } : {}), ...counts };
    store.write(({ emit }) => emit(indexComplete, { project_id, user_id: userId ?? undefined, data }));
    const force = again.get(project_id);
    again.delete(project_id);
    if (force !== undefined && state !== "cancelled") enqueue(project_id, { force, cause: "workspace" });
  }
  const index = defineJob("index", Payload, run, { parallel: PARALLEL, onEnd: recordEnd });

  const enqueue = (projectId: string, { force, cause, userId }: IndexRequest, runAt?: number): Job =>
    jobs.enqueue(
      index,
      { project_id: projectId, force, cause },
      { key: projectId, subject: nameOf(projectId), projectId, userId, runAt },
    );
  const present = (job: Job): IndexJob => presentJob(job, jobs.payloadOf(index, job.id));
  const lookUp = (projectId: string, jobId: string): Job => {
    const job = jobs.find(index, jobId);
    if (job?.project_id !== projectId) throw notFound("index job of this project");
    return job;
  };

  return {
    definition: index,
    /** Starts a job, or joins the project's live one. Synchronous, so that it can join the caller's transaction. */
    start: (projectId: string, request: IndexRequest): IndexJob =>
      store.write(() => {
        const job = enqueue(projectId, request);
        const payload = jobs.payloadOf(index, job.id);
        if (request.force && !payload.force && !jobs.alter(job.id, { payload: { ...payload, force: true } }))
          again.set(projectId, true);
        return present(job);
      }),
    /** @throws Problem 404. */
    get: (projectId: string, jobId: string): IndexJob => present(lookUp(projectId, jobId)),
    /** The newest job of a project. */
    latest(projectId: string): IndexJob | undefined {
      const job = jobs.latestOf(index, projectId);
      return job && present(job);
    },
    /** @throws Problem 404, 409 when it has ended. */
    cancel(projectId: string, jobId: string, caller: Caller): IndexJob {
      const { state } = lookUp(projectId, jobId);
      if (state !== "queued" && state !== "running") throw conflict(`The job has ${state} already.`, "job_ended");
      // Anybody who may index the project may stop its job, not only the person who started it.
      return present(jobs.cancel(jobId, { ...caller, admin: true }));
    },
    /** Queues an index job a while after the last of several calls, so that a burst of changes costs one job. */
    soon(projectId: string): void {
      const live = jobs.live(index, projectId);
      const soon = Date.now() + LIMITS.indexDebounceMs;
      if (!live) enqueue(projectId, { force: false, cause: "workspace" }, soon);
      else {
        const latest = Date.parse(live.created_at) + LIMITS.indexDebounceMaxMs;
        const waits = live.due_at !== null && jobs.alter(live.id, { runAt: Math.min(soon, latest) });
        if (live.state === "running" && !waits) again.set(projectId, again.get(projectId) ?? false);
      }
    },
    /** Ends the project's job. @returns once no part of it runs. */
    end: (projectId: string) => jobs.end(index, projectId),
  };
}

/** Progress of the whole job in percent, from the weighted progress of its phases. */
const percentOf = (phases: readonly Phase[]): number =>
  Math.floor(phases.reduce((sum, { percent }, at) => sum + (percent * (WEIGHTS[at] ?? 0)) / 100, 0));

function presentJob(job: Job, { project_id, force, cause }: Payload): IndexJob {
  const { id, state, error, created_at, finished_at } = job;
  const result = (job.result ?? {}) as Pick<IndexJob, "parsed" | "changed"> & { report?: IndexJob["report"] };
  const over = state === "failed" || state === "cancelled";
  const phases = ((job.progress?.["phases"] as Phase[] | undefined) ?? PENDING).map((phase) =>
    over && phase.state === "running" ? { ...phase, state: "failed" as const } : phase,
  );
  return {
    id,
    project_id,
    state,
    force,
    cause,
    phases,
    percent: state === "succeeded" ? 100 : percentOf(phases),
    ...(result.parsed === undefined ? {} : { parsed: result.parsed, changed: result.changed ?? false }),
    report: result.report ?? null,
    ...(error ? { error } : {}),
    created_at,
    finished_at,
  };
}
