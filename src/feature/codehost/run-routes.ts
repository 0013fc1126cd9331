/** /v1/runs/{id}/push and /pull-request: bring a run's work to the code host. */

import { Type as t } from "@sinclair/typebox";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { PullCreate, Pushed, RunOnHost } from "./model.ts";
import type { RunWork } from "./run-work.ts";

const RunPath = t.Object({ id: t.String({ maxLength: 100 }) });

export function runWorkRoutes(work: RunWork) {
  return tagOperations("runs", [
    defineOperation("pushRun", "POST /v1/runs/:id/push", {
      access: "user",
      project: "maintainer",
      scope: "publish",
      params: RunPath,
      answer: Pushed,
      summary: "Push the run's branch to the project's repository",
      handler: ({ params, caller }) => work.push(params.id, caller),
    }),
    defineOperation("getRunPullRequest", "GET /v1/runs/:id/pull-request", {
      access: "user",
      params: RunPath,
      answer: RunOnHost,
      summary: "Get a run's issue and pull request, and whether the code host is up to date about the run",
      handler: ({ params, caller }) => work.get(params.id, caller),
    }),
    defineOperation("openPullRequest", "POST /v1/runs/:id/pull-request", {
      access: "user",
      project: "maintainer",
      scope: "publish",
      params: RunPath,
      body: t.Optional(PullCreate),
      answer: { 202: RunOnHost },
      summary: "Push the run's branch and open a pull request",
      handler: ({ params, body, caller, answer }) =>
        work
          .assertOpenable(params.id, caller)
          .then(() => answer.accepted("/v1/runs/:run_id/pull-request", () => work.open(params.id, body ?? {}, caller))),
    }),
  ]);
}
