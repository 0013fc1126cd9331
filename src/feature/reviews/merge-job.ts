/**
 * Runs a merge as a background job, so that it is finished even after a crash, a stop, or when the caller goes away.
 * The caller waits for its end for a limited time.
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
  /** Used instead of `work_id` in jobs of earlier versions. */
  run_id: t.Optional(t.String()),
  project_id: t.String(),
  strategy: oneOf(...MERGE_STRATEGIES),
  into: orNull(t.String()),
  message: t.String(),
  push: t.Boolean(),
  task: t.Boolean(),
  /** The person who asked for the merge, for the audit log. */
  actor: t.String(),
  address: orNull(t.String()),
});
export type MergePayload = Static<typeof Payload>;

interface MergeJobDeps {
  jobs: Pick<Jobs, "enqueue" | "get">;
  access: Pick<ProjectAccess, "within">;
  /** Performs the merge. @throws Problem 409 `merge_conflict` with `files`, and others. */
  merge(payload: MergePayload, job: RunningJob, owner: Caller): Promise<Merged>;
}

/** Most merges at once; each is in another project. */
const PARALLEL = 4;
/** Most characters of the conflicts that are stored with the job. */
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
        // If the job was aborted, the code that aborted it ends it or starts it again, so the caller goes on waiting.
        if (!job.signal.aborted) waiting.get(job.id)?.reject(error);
        throw error;
      }
    },
    {
      parallel: PARALLEL,
      outward: true,
      exclusive: ({ project_id }) => project_id,
      onEnd({ id, state, payload }) {
        if (state !== "cancelled") return;
        const said = `The merge was cancelled. ${payload.into ?? "The branch"} is as it was.`;
        waiting.get(id)?.reject(conflict(said, "merge_cancelled"));
      },
    },
  );
  return {
    definition,
    /** @returns the merge, or its job when the merge takes longer than `waitMs`. @throws Problem of the merge. */
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
    /** Tells waiting callers that the server stops. */
    stop(): void {
      const stopping = unavailable(
        "stopping",
        "The server stops; the merge continues after its next start. See /v1/jobs.",
      );
      for (const { reject } of waiting.values()) reject(stopping);
    },
  };
}

/** The conflicts, shortened to fit into a job's row. */
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
