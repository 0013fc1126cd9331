/** /v1/runs/{id}/push and /pull-request: a run's work on the code host. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { PullCreate, Pushed, RunOnHost } from "./model.ts";
import type { RunWork } from "./run-work.ts";

const tags = ["runs"];
const RunPath = t.Object({ id: t.String({ maxLength: 100 }) });

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
    );
}
