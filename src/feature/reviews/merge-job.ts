/**
 * A merge as a background job: it is finished even after a crash, a stop or a caller that goes away. The caller waits
 * for its end, for a while.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import type { ConflictingFile } from "../../adapter/git.ts";
import { conflict, isProblem, unavailable } from "../../core/errors.ts";
import { defineJob, type RunningJob } from "../../core/jobs.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Merged } from "./merge-model.ts";

const Payload = t.Object({
  work_id: t.Optional(t.String()),
  /** Instead of `work_id`, in jobs of earlier versions. */
  run_id: t.Optional(t.String()),
  project_id: t.String(),
  strategy: oneOf(...MERGE_STRATEGIES),
  into: orNull(t.String()),
  message: t.String(),
  push: t.Boolean(),
  task: t.Boolean(),
  /** Who asked, for the audit. */
  actor: t.String(),
  address: orNull(t.String()),
});
export type MergePayload = Static<typeof Payload>;

interface MergeJobDeps {
  jobs: Pick<Jobs, "enqueue" | "get">;
  access: Pick<ProjectAccess, "within">;
  /** Does it. @throws Problem 409 `merge_conflict` with `files`, and others. */
  merge(payload: MergePayload, job: RunningJob, owner: Caller): Promise<Merged>;
}

/** Merges of different projects at once. */
const PARALLEL = 4;
/** How much of the conflicts is stored with the job. */
const REPORT_CHARACTERS = 32_000;

export function createMergeJob({ jobs, merge, access }: MergeJobDeps) {
  const waiting = new Map<string, PromiseWithResolvers<Merged>>();
  const definition = defineJob(
    "merge_run",
    Payload,
    async (payload, job) => {
      const owner: Caller =
        job.userId === null
          ? LOCAL_ADMIN
          : { kind: "user", admin: false, userId: job.userId, projects: access.within(payload.project_id) };
      try {
        const merged = await merge(payload, job, owner);
        waiting.get(job.id)?.resolve(merged);
        return { ...merged };
      } catch (error) {
        if (isProblem(error)) job.report(reportOf(error.extras.data));
        // A job that was aborted is ended, or started again, by the code that aborted it.
        if (!job.signal.aborted) waiting.get(job.id)?.reject(error);
        throw error;
      }
    },
    {
      parallel: PARALLEL,
      outward: true,
      exclusive: ({ project_id }) => project_id,
      ended({ id, state, payload }) {
        if (state !== "cancelled") return;
        const said = `The merge was cancelled. ${payload.into ?? "The branch"} is as it was.`;
        waiting.get(id)?.reject(conflict(said, "merge_cancelled"));
      },
    },
  );
  return {
    definition,
    /** @returns the merge, or its job when it takes longer than that. @throws Problem of the merge. */
    async run(payload: MergePayload, caller: Caller, waitMs: number): Promise<Merged | Job> {
      const options = { subject: payload.work_id ?? "", userId: caller.userId, projectId: payload.project_id };
      const job = jobs.enqueue(definition, payload, options);
      const end = Promise.withResolvers<Merged>();
      waiting.set(job.id, end);
      const late = Promise.withResolvers<null>();
      const timer = setTimeout(() => late.resolve(null), waitMs);
      try {
        return (await Promise.race([end.promise, late.promise])) ?? jobs.get(job.id, LOCAL_ADMIN);
      } finally {
        clearTimeout(timer);
        waiting.delete(job.id);
      }
    },
    /** The server stops: nobody can be answered any more. */
    stop(): void {
      const stopping = unavailable(
        "stopping",
        "The server stops; the merge continues after its next start. See /v1/jobs.",
      );
      for (const { reject } of waiting.values()) reject(stopping);
    },
  };
}

/** The conflicts, cut to what a job's row holds. */
function reportOf(data: Record<string, unknown> | undefined) {
  const listed = data?.["files"];
  if (!Array.isArray(listed)) return {};
  const conflicts: ConflictingFile[] = listed;
  let room = REPORT_CHARACTERS;
  const files = conflicts.map(({ path, kind, hunks }) => {
    const kept = hunks.filter((hunk) => {
      room -= hunk.length;
      return room >= 0;
    });
    return { path: path.slice(0, 1_000), kind, hunks: kept };
  });
  return { progress: { ...data, files } };
}
