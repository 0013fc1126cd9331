/** /v1/runs/{id}/diff and /merge. */

import { Type as t } from "@sinclair/typebox";
import { PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import { DiffQuery, MAX_FILES, Merge, RunDiff, RunFiles, RunMerge } from "./merge-model.ts";
import type { Merging } from "./merging.ts";

const TEXT = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

export function mergeRoutes(merging: Merging) {
  return operations("runs", [
    operation(
      "listRunDiff",
      "GET /v1/runs/:id/diff",
      {
        access: "user",
        query: DiffQuery,
        answer: RunDiff,
        summary: "What the run changed, file by file; as a patch with format=patch",
      },
      async ({ params, query, caller }): Promise<RunDiff> => {
        if (query.format !== "patch") return merging.diff(params.id, pageOf(query), caller, query.path);
        const patch = await merging.patch(params.id, caller);
        return new Response(patch, { headers: TEXT }) as never;
      },
    ),
    operation(
      "listRunFiles",
      "GET /v1/runs/:id/diff/files",
      {
        access: "user",
        query: t.Object({ cursor: PageQuery.cursor }),
        answer: RunFiles,
        summary: "The files that the run changed, without their lines",
      },
      ({ params, query, caller }) =>
        merging.files(params.id, { after: pageOf({ cursor: query.cursor }).after, limit: MAX_FILES }, caller),
    ),
    operation(
      "mergeRun",
      "POST /v1/runs/:id/merge",
      {
        access: "user",
        scope: "publish",
        body: t.Optional(RunMerge),
        answer: { 200: Merge, 202: Job },
        summary: "Merge the run's work into a branch, or report what is in conflict",
        description:
          "A background job whose end is waited for. What takes longer than 30 s, or is asked for with `Prefer: respond-async`, is answered with the job: its `result` is the merge, its `progress` holds the files that are in conflict.",
      },
      async ({ params, body, request, caller, answer, set }) => {
        const isAsync = /(^|,)\s*respond-async\s*(,|;|$)/i.test(request.headers.get("prefer") ?? "");
        const merged = await merging.merge(params.id, body ?? {}, caller, isAsync ? 0 : undefined);
        if (!("state" in merged)) return merged;
        set.headers["location"] = `/v1/jobs/${merged.id}`;
        return answer.as(202, merged);
      },
    ),
  ]);
}
