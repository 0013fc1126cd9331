/** /v1/runs/{id}/push, /pull-request, /review-comments and /attempt: a run's work on the code host. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Run } from "../runs/model.ts";
import { PullCreate, Pushed, Remark, RemarkCreate, RunOnHost } from "./model.ts";
import type { RunWork } from "./run-work.ts";

const tags = ["runs"];
const RunPath = t.Object({ id: t.String({ maxLength: 100 }) });
const Attempt = t.Object({
  human_context: t.Optional(t.String({ maxLength: 20_000, description: "What to do otherwise, beside the remarks." })),
});

export function runWorkRoutes(base: Base, work: RunWork) {
  return new Elysia({ name: "skep/codehost-runs" })
    .use(base)
    .post("/v1/runs/:id/push", ({ params, caller }) => work.push(params.id, caller), {
      access: "user",
      params: RunPath,
      response: { 200: Pushed },
      detail: { tags, operationId: "pushRun", summary: "Push the run's branch to the project's repository" },
    })
    .get("/v1/runs/:id/pull-request", ({ params, caller }) => work.get(params.id, caller), {
      access: "user",
      params: RunPath,
      response: { 200: RunOnHost },
      detail: { tags, summary: "The run's issue and pull request, and how far the code host knows of it" },
    })
    .post(
      "/v1/runs/:id/pull-request",
      ({ params, body, caller, answer }) =>
        work.prepared(params.id, caller).then(() =>
          answer.accepted(
            ({ run_id }) => `/v1/runs/${run_id}/pull-request`,
            () => work.open(params.id, body ?? {}, caller),
          ),
        ),
      {
        access: "user",
        params: RunPath,
        body: t.Optional(PullCreate),
        response: { 202: RunOnHost },
        detail: { tags, operationId: "openPullRequest", summary: "Push the run's branch and open a pull request" },
      },
    )
    .get(
      "/v1/runs/:id/review-comments",
      ({ params, query, caller }) => work.remarks(params.id, pageOf(query), caller),
      {
        access: "user",
        params: RunPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(Remark) },
        detail: { tags, summary: "What people said about the run's work, oldest first" },
      },
    )
    .post(
      "/v1/runs/:id/review-comments",
      ({ params, body, caller, answer }) =>
        answer.created(
          ({ run_id }) => `/v1/runs/${run_id}/review-comments`,
          () => work.say(params.id, body, caller),
        ),
      {
        access: "user",
        params: RunPath,
        body: RemarkCreate,
        response: { 201: Remark },
        detail: { tags, operationId: "createReviewComment", summary: "Say something about the run's work" },
      },
    )
    .post(
      "/v1/runs/:id/attempt",
      ({ params, body, caller, answer }) =>
        answer.accepted(
          ({ id }) => `/v1/runs/${id}`,
          () => work.again(params.id, body?.human_context, caller),
        ),
      {
        access: "user",
        params: RunPath,
        body: t.Optional(Attempt),
        response: { 202: Run },
        detail: {
          tags,
          operationId: "attemptRunAgain",
          summary: "Another attempt on the run's own branch, with what was said about the last one",
        },
      },
    );
}
