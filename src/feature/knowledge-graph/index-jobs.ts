/**
 * Index jobs: one a project at a time, as rows. A later request joins the job that runs; what changes while it runs is
 * indexed after it. A job that a stopped or killed server cut short is marked so, and begun once more at the next start.
 */
import { and, desc, eq, isNull } from "drizzle-orm";
import { conflict, notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { RemoteGraph } from "../../graph/client.ts";
import type { Caller } from "../../http/caller.ts";
import type { Bus } from "../../store/bus.ts";
import type { Store } from "../../store/store.ts";
import { indexJobs } from "../../store/tables/knowledge-graph.ts";
import { jobs as jobTable } from "../../store/tables/settings.ts";
import { jobProgress } from "../jobs/events.ts";
import type { Jobs } from "../jobs/service.ts";
import { indexComplete, indexProgress } from "./events.ts";
import type { IndexJob, Phase } from "./model.ts";

export interface IndexJobsDeps {
  store: Store;
  bus: Bus;
  jobs: Pick<Jobs, "start" | "cancel">;
  graphOf(projectId: string): Pick<RemoteGraph, "index">;
}

export interface IndexWish {
  force: boolean;
  cause: IndexJob["cause"];
  userId?: string | undefined;
}

export interface IndexJobs {
  /** Starts a job, or joins the one that has not ended. Synchronous, for the transaction around it. */
  start(projectId: string, wish: IndexWish): IndexJob;
  /** @throws Problem 404. */
  get(projectId: string, jobId: string): IndexJob;
  /** The newest job of a project. */
  latest(projectId: string): IndexJob | undefined;
  /** @throws Problem 404, 409 when it has ended. */
  cancel(projectId: string, jobId: string, caller: Caller): IndexJob;
  /** Indexes a while after the last of several calls. */
  soon(projectId: string): void;
  /** Begins again what the last process left unfinished. @param wanted whether the project is still there, and whole */
  resume(wanted: (projectId: string) => boolean): void;
  /** Nothing begins any more. */
  stop(): void;
}

const KIND = "index";
const NAMES = [
  "filesystem_walk",
  "parsing",
  "structure",
  "resolution",
  "community_detection",
  "process_discovery",
] as const;
/** Share of each phase in the whole, in percent: measured on repositories of 100 to 7,000 files. */
const WEIGHTS = [4, 55, 6, 20, 8, 7];
const PENDING: Phase[] = NAMES.map((name) => ({ name, state: "pending", percent: 0, done: 0, total: 0 }));
type EndState = Exclude<IndexJob["state"], "queued" | "running">;
const hasEnded = (state: IndexJob["state"]): state is EndState => state !== "queued" && state !== "running";

type Row = { own: typeof indexJobs.$inferSelect; job: typeof jobTable.$inferSelect };

export function createIndexJobs({ store, bus, jobs, graphOf }: IndexJobsDeps): IndexJobs {
  const { db } = store;
  /** Phases of running jobs; the row has them as of the last change of state. */
  const live = new Map<string, Phase[]>();
  /** Projects that changed, or were wished anew, while a job ran; true for from scratch. */
  const again = new Map<string, boolean>();
  const timers = new Map<string, { timer: ReturnType<typeof setTimeout>; first: number }>();
  let stopped = false;

  const select = () =>
    db.select({ own: indexJobs, job: jobTable }).from(indexJobs).innerJoin(jobTable, eq(jobTable.id, indexJobs.job_id));
  const ofProject = (id: string) => eq(indexJobs.project_id, id);
  const running = (projectId: string): Row | undefined =>
    select()
      .where(and(ofProject(projectId), isNull(jobTable.finished_at)))
      .get();
  const find = (jobId: string): Row | undefined => select().where(eq(indexJobs.job_id, jobId)).get();
  const present = (row: Row): IndexJob => presentJob(row, live.get(row.own.job_id));
  const lookUp = (projectId: string, jobId: string): Row => {
    const row = find(jobId);
    if (row?.own.project_id !== projectId) throw notFound("index job of this project");
    return row;
  };

  async function run(projectId: string, wish: IndexWish, of: { jobId: string }, context: Working) {
    const { report, signal } = context;
    let told = "";
    const phases = await graphOf(projectId).index({
      force: wish.force,
      signal,
      progress(now) {
        live.set(of.jobId, [...now]);
        const percent = percentOf(now);
        const phase = now.find(({ state }) => state === "running");
        report({ percent, detail: phase?.name.replaceAll("_", " ") });
        const states = now.map(({ state }) => state).join();
        const data = {
          job_id: of.jobId,
          state: "running" as const,
          percent,
          phase: phase?.name ?? null,
          phases: [...now],
        };
        if (states !== told) store.write(() => keepPhases(of.jobId, now));
        told = states;
        store.emitSoon(indexProgress, { project_id: projectId, data });
      },
    });
    const { manifest, parsed, changed } = phases;
    store.write(() => keepPhases(of.jobId, phases.phases));
    const { files, skipped, skippedCount, failed, nodes, relationships, communities } = manifest;
    const told_ = { files, skipped, skipped_count: skippedCount, failed };
    return { parsed, changed, report: told_, nodes, relationships, communities, processes: manifest.processes };
  }

  const keepPhases = (jobId: string, phases: readonly Phase[]) =>
    db.update(indexJobs).set({ phases }).where(eq(indexJobs.job_id, jobId)).run();

  function begin(projectId: string, wish: IndexWish): IndexJob {
    const of = { jobId: "" };
    const job = jobs.start({
      kind: KIND,
      subject: projectId,
      userId: wish.userId,
      work: (report, signal) => run(projectId, wish, of, { report, signal }),
    });
    of.jobId = job.id;
    const { force, cause } = wish;
    const row = { job_id: job.id, project_id: projectId, force, cause, phases: PENDING, cancelled: false };
    store.write(() => db.insert(indexJobs).values(row).run());
    return present(find(job.id)!);
  }

  function start(projectId: string, wish: IndexWish): IndexJob {
    return store.write(() => {
      const active = running(projectId);
      if (!active) return begin(projectId, wish);
      if (wish.force && !active.own.force) again.set(projectId, true);
      return present(active);
    });
  }

  function ended(jobId: string, state: EndState): void {
    const row = find(jobId);
    live.delete(jobId);
    if (!row || stopped) return;
    const { project_id } = row.own;
    const { result, error } = { ...row.job, error: errorOf(row.job) };
    const { report: _, ...counts } = result ?? {};
    const data = { job_id: jobId, state, ...(error ? { error } : {}), ...counts };
    store.write(({ emit }) => emit(indexComplete, { project_id, data }));
    const force = again.get(project_id);
    again.delete(project_id);
    if (force !== undefined && !row.own.cancelled) start(project_id, { force, cause: "workspace" });
  }

  const unsubscribe = bus.subscribe([jobProgress], ({ data }) => {
    if (data.kind === KIND && hasEnded(data.state)) ended(data.job_id, data.state);
  });

  return {
    start,
    get: (projectId, jobId) => present(lookUp(projectId, jobId)),
    latest(projectId) {
      const row = select().where(ofProject(projectId)).orderBy(desc(indexJobs.job_id)).limit(1).get();
      return row && present(row);
    },
    cancel(projectId, jobId, caller) {
      const row = lookUp(projectId, jobId);
      if (row.job.finished_at !== null) throw conflict(`The job has ${row.job.state} already.`, "job_ended");
      store.write(() => {
        db.update(indexJobs).set({ cancelled: true }).where(eq(indexJobs.job_id, jobId)).run();
        // Whoever may index the project may stop it, whoever began it.
        jobs.cancel(jobId, { ...caller, admin: true });
      });
      return present(lookUp(projectId, jobId));
    },
    soon(projectId) {
      const known = timers.get(projectId);
      clearTimeout(known?.timer);
      const first = known?.first ?? Date.now();
      const wait = Math.max(0, Math.min(LIMITS.indexDebounceMs, first + LIMITS.indexDebounceMaxMs - Date.now()));
      const timer = setTimeout(() => {
        timers.delete(projectId);
        if (stopped) return;
        if (running(projectId)) again.set(projectId, again.get(projectId) ?? false);
        else start(projectId, { force: false, cause: "workspace" });
      }, wait);
      timer.unref();
      timers.set(projectId, { timer, first });
    },
    resume(wanted) {
      const newest = new Map<string, Row>();
      for (const row of select().orderBy(indexJobs.job_id).all()) newest.set(row.own.project_id, row);
      for (const [projectId, { own, job }] of newest) {
        const cutShort = job.error_code === "interrupted" || (job.state === "cancelled" && !own.cancelled);
        // Once: what ends the server each time must not keep it from starting.
        if (!cutShort || own.cause === "resumed" || !wanted(projectId)) continue;
        start(projectId, { force: own.force, cause: "resumed", userId: job.user_id ?? undefined });
      }
    },
    stop() {
      stopped = true;
      unsubscribe();
      for (const { timer } of timers.values()) clearTimeout(timer);
    },
  };
}

interface Working {
  report: Parameters<Parameters<Jobs["start"]>[0]["work"]>[0];
  signal: AbortSignal;
}

/** Of the whole job, from the share of each phase. */
const percentOf = (phases: readonly Phase[]): number =>
  Math.floor(phases.reduce((sum, { percent }, at) => sum + (percent * (WEIGHTS[at] ?? 0)) / 100, 0));

const errorOf = ({ error_code, error_message }: Row["job"]) =>
  error_code === null ? undefined : { code: error_code, message: error_message ?? "" };

function presentJob({ own, job }: Row, live: Phase[] | undefined): IndexJob {
  const result = (job.result ?? {}) as Pick<IndexJob, "parsed" | "changed"> & { report?: IndexJob["report"] };
  const over = hasEnded(job.state) && job.state !== "succeeded";
  const phases = (live ?? (own.phases as Phase[])).map((phase) =>
    over && phase.state === "running" ? { ...phase, state: "failed" as const } : phase,
  );
  const error = errorOf(job);
  return {
    id: job.id,
    project_id: own.project_id,
    state: job.state,
    percent: job.state === "succeeded" ? 100 : percentOf(phases),
    force: own.force,
    cause: own.cause,
    phases,
    ...(result.parsed === undefined ? {} : { parsed: result.parsed, changed: result.changed ?? false }),
    report: result.report ?? null,
    ...(error ? { error } : {}),
    created_at: job.created_at,
    finished_at: job.finished_at,
  };
}
