/** /v1/evals, and the making of a task from a run. */
import { LIMITS } from "../../core/limits.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import type { TaskOfRun } from "./from-run.ts";
import { Eval, EvalAttempt, EvalComparison, EvalCreate, EvalDetail, EvalRecording, EvalTaskFolder } from "./model.ts";
import type { Evals } from "./service.ts";

export function evalRoutes(evals: Evals, taskOfRun: TaskOfRun) {
  return tagOperations("evals", [
    defineOperation("listEvals", "GET /v1/evals", {
      access: "user",
      ...pagesOf(Eval),
      summary: "List evals, newest first",
      handler: ({ query, caller }) => evals.list(pageOf(query), caller),
    }),
    defineOperation("createEval", "POST /v1/evals", {
      access: "user",
      scope: "runs",
      body: EvalCreate,
      bodyBytes: LIMITS.evalBytes,
      answer: { 202: EvalDetail },
      summary: "Let agents try tasks, and count how many pass",
      description:
        "Each attempt is a run of its own: the agent works in a sandbox, then the task's hidden tests run. `oracle` checks the tasks without a model; `replay` plays recorded replies. The body may have up to 16 MiB.",
      handler: async ({ body, caller, answer }) => answer.accepted("/v1/evals/:id", await evals.create(body, caller)),
    }),
    defineOperation("getEval", "GET /v1/evals/:id", {
      access: "user",
      answer: EvalDetail,
      summary: "Get an eval with its scores",
      handler: ({ params, caller }) => evals.get(params.id, caller),
    }),
    defineOperation("listEvalAttempts", "GET /v1/evals/:id/attempts", {
      access: "user",
      ...pagesOf(EvalAttempt),
      summary: "List an eval's attempts in the order in which they are made",
      handler: ({ params, query, caller }) => evals.attempts(params.id, pageOf(query), caller),
    }),
    defineOperation("compareEvals", "GET /v1/evals/:id/comparison/:earlier", {
      access: "user",
      answer: EvalComparison,
      summary: "Compare an eval with an earlier one: what passes more or less often",
      handler: ({ params, caller }) => evals.compare(params.id, params.earlier, caller),
    }),
    defineOperation("getEvalRecording", "GET /v1/evals/:id/recording", {
      access: "user",
      answer: EvalRecording,
      summary: "Get the recorded replies of an eval's models, to replay them",
      handler: ({ params, caller }) => evals.recording(params.id, caller),
    }),
    defineOperation("cancelEval", "POST /v1/evals/:id/cancel", {
      access: "user",
      scope: "runs",
      answer: { 202: EvalDetail },
      summary: "Cancel an eval and its runs",
      handler: ({ params, caller, answer }) => answer.accepted("/v1/evals/:id", () => evals.cancel(params.id, caller)),
    }),
    defineOperation("deleteEval", "DELETE /v1/evals/:id", {
      access: "user",
      scope: "runs",
      answer: 204,
      summary: "Delete an eval that has ended; its runs are kept",
      handler: ({ params, caller }) => evals.remove(params.id, caller),
    }),
    defineOperation("getRunEvalTask", "GET /v1/runs/:id/eval-task", {
      access: "user",
      answer: EvalTaskFolder,
      summary: "Get a run as a task: its text, the commit that it began from, and its changes as the solution",
      handler: ({ params, caller }) => taskOfRun(params.id, caller),
    }),
  ]);
}
