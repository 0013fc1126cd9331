/** `/v1/jobs`: the status of work that was answered with 202, and its cancellation. */

import { Type as t } from "@sinclair/typebox";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "./model.ts";
import type { Jobs } from "./service.ts";

export function jobRoutes(jobs: Jobs) {
  return tagOperations("jobs", [
    defineOperation("listJobs", "GET /v1/jobs", {
      access: "user",
      ...pagesOf(Job),
      summary: "List background jobs, newest first",
      handler: ({ query, caller }) => jobs.list(pageOf(query), caller),
    }),
    defineOperation("getJob", "GET /v1/jobs/:id", {
      access: "user",
      params: t.Object({ id: t.String({ maxLength: 100 }) }),
      answer: Job,
      summary: "Get a background job",
      handler: ({ params, caller }) => jobs.get(params.id, caller),
    }),
    defineOperation("cancelJob", "POST /v1/jobs/:id/cancel", {
      access: "user",
      project: "viewer",
      params: t.Object({ id: t.String({ maxLength: 100 }) }),
      answer: { 202: Job },
      summary: "Cancel a background job",
      handler: ({ params, caller, answer }) => answer.accepted("/v1/jobs/:id", () => jobs.cancel(params.id, caller)),
    }),
  ]);
}
