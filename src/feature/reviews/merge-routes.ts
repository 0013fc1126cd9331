/** Changes of runs and sessions, and merging them: `/v1/changes`, and for runs `/v1/runs/{id}/diff` and `/merge`. */

import { Type as t } from "@sinclair/typebox";
import { notFound } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import {
  ChangedFiles,
  Changes,
  Diff,
  DiffQuery,
  MAX_FILES,
  Merge,
  Merged,
  MergeRequest,
  RunDiff,
  RunFiles,
} from "./merge-model.ts";
import type { Merging } from "./merging.ts";
import type { ReviewedWork } from "./reviewed.ts";

const TEXT = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
const ABOUT_MERGES =
  "The merge runs as a background job, and the answer waits for its end. After 30 s, or at once with `Prefer: respond-async`, the answer is the job. The job's `result` is the merge; its `progress` holds the files in conflict.";
const FilesQuery = t.Object({ cursor: PageQuery.cursor });

/** @throws Problem 404 when the id is not a run's. */
export function expectRunId(id: string): string {
  if (!isId("run", id)) throw notFound("run");
  return id;
}

/** How long the caller waits for a merge, ms: 0 with `Prefer: respond-async`, undefined for the server's default. */
const waitOf = (request: Request): number | undefined =>
  /(^|,)\s*respond-async\s*(,|;|$)/i.test(request.headers.get("prefer") ?? "") ? 0 : undefined;

export function mergeRoutes(merging: Merging, reviewed: ReviewedWork) {
  /** A page of the diff, or the whole as a patch. */
  async function read<D>(
    id: string,
    query: typeof DiffQuery.static,
    caller: Caller,
    show: (diff: Diff) => D,
  ): Promise<D> {
    if (query.format !== "patch") return show(await merging.diff(id, pageOf(query), caller, query.path));
    return new Response(await merging.patch(id, caller), { headers: TEXT }) as never;
  }
  const list = (id: string, { cursor }: typeof FilesQuery.static, caller: Caller) =>
    merging.files(id, { after: pageOf({ cursor }).after, limit: MAX_FILES }, caller);
  return [...ofChanges(), ...ofRuns()];

  function ofChanges() {
    return tagOperations("changes", [
      defineOperation("listChanges", "GET /v1/changes", {
        access: "user",
        query: t.Object({ ...PageQuery, project_id: t.Optional(t.String({ maxLength: 64 })) }),
        answer: listOf(Changes),
        summary:
          "List your runs, chats, swarms, spawned work and routines' ticks on branches of projects, newest first",
        handler: ({ query, caller }) => reviewed.list(query.project_id, pageOf(query), caller),
      }),
      defineOperation("getChanges", "GET /v1/changes/:id", {
        access: "user",
        answer: Changes,
        summary: "Get the branch that a run, a chat, a swarm, a spawned execution or a routine's tick works on",
        description:
          "`id` is the id of such work or of a session. Work that an agent handed on within its own files shows that agent's branch.",
        handler: ({ params, caller }) => reviewed.present(reviewed.find(params.id, caller)),
      }),
      defineOperation("listChangesDiff", "GET /v1/changes/:id/diff", {
        access: "user",
        query: DiffQuery,
        answer: Diff,
        summary: "Get the diff of changes file by file, or as a patch with format=patch",
        handler: ({ params, query, caller }) => read(params.id, query, caller, (diff) => diff),
      }),
      defineOperation("listChangesFiles", "GET /v1/changes/:id/diff/files", {
        access: "user",
        query: FilesQuery,
        answer: ChangedFiles,
        summary: "List the files of changes without their lines",
        handler: ({ params, query, caller }) => list(params.id, query, caller),
      }),
      defineOperation("mergeChanges", "POST /v1/changes/:id/merge", {
        access: "user",
        project: "maintainer",
        scope: "publish",
        body: t.Optional(MergeRequest),
        answer: { 200: Merged, 202: Job },
        summary: "Merge changes into a branch, or report the conflicts",
        description: ABOUT_MERGES,
        handler: async ({ params, body, request, caller, answer, set }) => {
          const merged = await merging.merge(params.id, body ?? {}, caller, waitOf(request));
          if (!("state" in merged)) return merged;
          set.headers["location"] = `/v1/jobs/${merged.id}`;
          return answer.as(202, merged);
        },
      }),
    ]);
  }

  function ofRuns() {
    return tagOperations("runs", [
      defineOperation("listRunDiff", "GET /v1/runs/:id/diff", {
        access: "user",
        query: DiffQuery,
        answer: RunDiff,
        summary: "Get the diff of a run file by file, or as a patch with format=patch",
        handler: ({ params, query, caller }) =>
          read(expectRunId(params.id), query, caller, (diff): RunDiff => ({ run_id: diff.work_id, ...diff })),
      }),
      defineOperation("listRunFiles", "GET /v1/runs/:id/diff/files", {
        access: "user",
        query: FilesQuery,
        answer: RunFiles,
        summary: "List the files that a run changed, without their lines",
        handler: async ({ params, query, caller }) => ({
          run_id: params.id,
          ...(await list(expectRunId(params.id), query, caller)),
        }),
      }),
      defineOperation("mergeRun", "POST /v1/runs/:id/merge", {
        access: "user",
        project: "maintainer",
        scope: "publish",
        body: t.Optional(MergeRequest),
        answer: { 200: Merge, 202: Job },
        summary: "Merge a run's work into a branch, or report the conflicts",
        description: ABOUT_MERGES,
        handler: async ({ params, body, request, caller, answer, set }) => {
          const merged = await merging.merge(expectRunId(params.id), body ?? {}, caller, waitOf(request));
          if (!("state" in merged)) return { run_id: merged.work_id, ...merged };
          set.headers["location"] = `/v1/jobs/${merged.id}`;
          return answer.as(202, merged);
        },
      }),
    ]);
  }
}
