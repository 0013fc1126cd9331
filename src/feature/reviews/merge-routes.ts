/** /v1/runs/{id}/diff and /merge. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import type { Base } from "../../http/base.ts";
import { pageOf } from "../../http/list.ts";
import { Job } from "../jobs/model.ts";
import { DiffQuery, Merge, RunDiff, RunMerge } from "./merge-model.ts";
import type { Merging } from "./merging.ts";

const TEXT = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
const tags = ["runs"];
const RunPath = t.Object({ id: t.String() });

export function mergeRoutes(base: Base, merging: Merging) {
  return new Elysia({ name: "skep/runs-merging" })
    .use(base)
    .get(
      "/v1/runs/:id/diff",
      async ({ params, query, caller }): Promise<RunDiff> => {
        if (query.format !== "patch") return merging.diff(params.id, pageOf(query), caller);
        const patch = await merging.patch(params.id, caller);
        return new Response(patch, { headers: TEXT }) as never;
      },
      {
        access: "user",
        params: RunPath,
        query: DiffQuery,
        response: { 200: RunDiff },
        detail: { tags, summary: "What the run changed, file by file; as a patch with format=patch" },
      },
    )
    .post(
      "/v1/runs/:id/merge",
      async ({ params, body, headers, caller, set }) => {
        const isAsync = /(^|,)\s*respond-async\s*(,|;|$)/i.test(headers["prefer"] ?? "");
        const answer = await merging.merge(params.id, body ?? {}, caller, isAsync ? 0 : undefined);
        if (!("state" in answer)) return answer;
        set.headers["location"] = `/v1/jobs/${answer.id}`;
        return status(202, answer);
      },
      {
        access: "user",
        params: RunPath,
        body: t.Optional(RunMerge),
        response: { 200: Merge, 202: Job },
        detail: {
          tags,
          summary: "Merge the run's work into a branch, or report what is in conflict",
          description:
            "A background job whose end is waited for. What takes longer than 30 s, or is asked for with `Prefer: respond-async`, is answered with the job: its `result` is the merge, its `progress` holds the files that are in conflict.",
        },
      },
    );
}
