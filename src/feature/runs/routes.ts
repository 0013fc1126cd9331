/** /v1/runs, /v1/steps, and the history that agents read of their own work. */

import { Type as t } from "@sinclair/typebox";
import { notFound } from "../../core/errors.ts";
import { readTraceParent } from "../../core/trace-context.ts";
import { assertOwnAgent } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryInteger } from "../../http/schema.ts";
import { Approval, HistoryItem, Run, RunCreate, RunDetail, RunRestart, RunStatus, Step, StepOutput } from "./model.ts";
import type { Runs } from "./service.ts";
import type { RunViews } from "./views.ts";

const StepPath = t.Object({
  run_id: t.String(),
  step_id: t.String({ description: "The step's name, or the id of one of its attempts." }),
});
const Since = t.String({ description: "Time in RFC 3339, or milliseconds since the epoch.", maxLength: 40 });
const RunsQuery = t.Object({
  ...PageQuery,
  pipeline_id: t.Optional(t.String()),
  status: t.Optional(t.String({ maxLength: 100, description: "One status, or several separated by commas." })),
  project_id: t.Optional(t.String()),
  task_id: t.Optional(t.String({ description: "Only runs that work on this task." })),
  agent_id: t.Optional(t.String({ description: "Only runs in which this agent took a step." })),
  since: t.Optional(Since),
  q: t.Optional(
    t.String({
      maxLength: 200,
      description:
        "Words or parts of words that must all occur in the task, the pipeline or the project. Words of less than three characters search only the newest 2,000 runs.",
    }),
  ),
});
const HistoryQuery = t.Object({
  ...PageQuery,
  project_id: t.Optional(t.String()),
  task_id: t.Optional(t.String()),
  agent_id: t.Optional(t.String()),
  status: t.Optional(t.Union([RunStatus, t.Literal("terminal")])),
  since: t.Optional(Since),
});
const LOCATION = "/v1/runs/:id";

interface RunRoutesDeps {
  runs: Runs;
  views: RunViews;
  agents: { exists(id: string): boolean };
}

export function runRoutes({ runs, views, agents }: RunRoutesDeps) {
  return tagOperations("runs", [
    defineOperation("listRuns", "GET /v1/runs", {
      access: "user",
      query: RunsQuery,
      answer: listOf(Run),
      summary: "List runs, newest first",
      handler: ({ query, caller }) => views.list(query, pageOf(query), caller),
    }),
    defineOperation("createRun", "POST /v1/runs", {
      access: "user",
      scope: "runs",
      body: RunCreate,
      answer: { 201: Run },
      summary: "Create a run of a pipeline",
      description: "A `traceparent` header makes the run part of the caller's trace if the server exports traces.",
      handler: ({ body, caller, request, answer }) =>
        answer.created(LOCATION, () =>
          runs.create(body, caller, { trace: readTraceParent(request.headers.get("traceparent")) }),
        ),
    }),
    defineOperation("getRun", "GET /v1/runs/:id", {
      access: "user",
      answer: RunDetail,
      summary: "Get a run with the inputs it was started with",
      handler: ({ params, caller }) => ({
        ...views.one(params.id, caller),
        provider_wait: runs.providerWait(params.id),
      }),
    }),
    defineOperation("cancelRun", "POST /v1/runs/:id/cancel", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: { 202: Run },
      summary: "Cancel a run",
      handler: ({ params, caller, answer }) => answer.accepted(LOCATION, () => runs.cancel(params.id, caller)),
    }),
    defineOperation("tryRunNow", "POST /v1/runs/:id/try-now", {
      access: "user",
      scope: "runs",
      answer: { 202: Run },
      summary: "Ask the provider whose quota a run waits for again at once",
      handler: ({ params, caller, answer }) => answer.accepted(LOCATION, () => runs.tryNow(params.id, caller)),
    }),
    defineOperation("restartRun", "POST /v1/runs/:id/restart", {
      access: "user",
      scope: "runs",
      body: t.Optional(RunRestart),
      answer: { 202: Run },
      summary: "Restart an ended run from its first step that did not succeed, or from a named step",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted(LOCATION, () => runs.restart(params.id, body ?? {}, caller)),
    }),
    defineOperation("approveRun", "POST /v1/runs/:id/approve", {
      access: "user",
      scope: "runs",
      body: Approval,
      answer: Run,
      summary: "Answer a step that waits for a person",
      handler: ({ params, body, caller, answer }) => answer.perform(() => runs.approve(params.id, body, caller)),
    }),
    defineOperation("listSteps", "GET /v1/steps/:run_id", {
      access: "user",
      ...pagesOf(Step),
      tag: "steps",
      summary: "List the steps of a run in order, with every attempt",
      handler: ({ params, query, caller }) => views.steps(params.run_id, pageOf(query), caller),
    }),
    defineOperation("getStep", "GET /v1/steps/:run_id/:step_id", {
      access: "user",
      params: StepPath,
      answer: Step,
      tag: "steps",
      summary: "Get the latest attempt of a step",
      handler: ({ params, caller }) => views.step(params.run_id, params.step_id, undefined, caller),
    }),
    defineOperation("getStepOutput", "GET /v1/steps/:run_id/:step_id/output", {
      access: "user",
      params: StepPath,
      query: t.Object({ attempt: t.Optional(queryInteger({ minimum: 1 })) }),
      answer: StepOutput,
      tag: "steps",
      summary: "Get the output of a step, as text with Accept: text/plain",
      handler: ({ params, query, caller, request }) => {
        const output = views.output(params.run_id, params.step_id, query.attempt, caller);
        if (!request.headers.get("accept")?.includes("text/plain")) return output;
        return new Response(output.text, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
      },
    }),
    defineOperation("listAgentRuns", "GET /v1/agents/:id/runs", {
      access: "user",
      ...pagesOf(Run),
      tag: "agents",
      summary: "List the runs that an agent took part in, newest first",
      handler: ({ params, query, caller }) => {
        if (!agents.exists(params.id)) throw notFound("agent");
        return views.ofAgent(params.id, pageOf(query), caller);
      },
    }),
    defineOperation("listRunHistory", "GET /v1/internal/run-history", {
      access: "user",
      execution: true,
      query: HistoryQuery,
      answer: listOf(HistoryItem),
      tag: "history",
      summary: "List past executions",
      handler: ({ query, caller }) => {
        if (query.agent_id !== undefined) assertOwnAgent(caller, query.agent_id);
        const { items, next_cursor } = views.history(query, pageOf(query), caller);
        return { items: caller.execution ? items.map(withhold) : items, next_cursor };
      },
    }),
  ]);
}

/**
 * An execution that calls the API with its token does not get results that may be outside text. The tool
 * get_run_history shows them, marked as such.
 */
const withhold = (item: HistoryItem): HistoryItem =>
  item.outside === null ? item : { ...item, outputs: {}, error: item.error && { ...item.error, message: "" } };
