/** /v1/jobs: the status of what was started with 202, and cancelling it. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Job } from "./model.ts";
import type { Jobs } from "./service.ts";

const tags = ["jobs"];

export function jobRoutes(base: Base, jobs: Jobs) {
  return new Elysia({ name: "skep/jobs" })
    .use(base)
    .get("/v1/jobs", ({ query, caller }) => jobs.list(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(Job) },
      detail: { tags, summary: "Background jobs, newest first" },
    })
    .get("/v1/jobs/:id", ({ params, caller }) => jobs.get(params.id, caller), {
      access: "user",
      params: t.Object({ id: t.String({ maxLength: 100 }) }),
      response: { 200: Job },
      detail: { tags, summary: "One background job" },
    })
    .post(
      "/v1/jobs/:id/cancel",
      ({ params, caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => jobs.cancel(params.id, caller),
        ),
      {
        access: "user",
        params: t.Object({ id: t.String({ maxLength: 100 }) }),
        response: { 202: Job },
        detail: { tags, summary: "Cancel a background job" },
      },
    );
}
