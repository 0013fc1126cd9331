/** /v1/runs, /v1/steps, and the history that agents read of their own work. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { notFound } from "../../core/errors.ts";
import type { Base } from "../../http/base.ts";
import { assertOwnAgent } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf, queryInteger } from "../../http/list.ts";
import { Approval, HistoryItem, Run, RunCreate, RunDetail, RunRestart, RunStatus, Step, StepOutput } from "./model.ts";
import type { Runs } from "./service.ts";
import type { RunViews } from "./views.ts";

const RunPath = t.Object({ id: t.String() });
const StepPath = t.Object({
  run_id: t.String(),
  step_id: t.String({ description: "The step's name, or the id of one of its attempts." }),
});
const Since = t.String({ description: "RFC 3339, or milliseconds since the epoch.", maxLength: 40 });
const locationOf = (run: Run) => `/v1/runs/${run.id}`;

export interface RunRoutesDeps {
  runs: Runs;
  views: RunViews;
  agents: { exists(id: string): boolean };
}

export function runRoutes(base: Base, { runs, views, agents }: RunRoutesDeps) {
  const tags = ["runs"];
  return new Elysia({ name: "skep/runs" })
    .use(base)
    .get("/v1/runs", ({ query, caller }) => views.list(query, pageOf(query), caller), {
      access: "user",
      query: t.Object({
        ...PageQuery,
        pipeline_id: t.Optional(t.String()),
        status: t.Optional(t.String({ maxLength: 100, description: "One state, or several separated by commas." })),
        project_id: t.Optional(t.String()),
        task_id: t.Optional(t.String({ description: "Runs that work on this task." })),
        agent_id: t.Optional(t.String({ description: "Runs in which this agent took a step." })),
        since: t.Optional(Since),
        q: t.Optional(
          t.String({
            maxLength: 200,
            description:
              "Words, or parts of them, of the task, the pipeline or the project; all must be there. One of less than three characters is looked for in the newest 2,000 runs.",
          }),
        ),
      }),
      response: { 200: listOf(Run) },
      detail: { tags, summary: "List runs, newest first" },
    })
    .post("/v1/runs", ({ body, caller, answer }) => answer.created(locationOf, () => runs.create(body, caller)), {
      access: "user",
      body: RunCreate,
      response: { 201: Run },
      detail: { tags, summary: "Create a run of a pipeline" },
    })
    .get("/v1/runs/:id", ({ params, caller }) => views.one(params.id, caller), {
      access: "user",
      params: RunPath,
      response: { 200: RunDetail },
      detail: { tags, summary: "One run, with the inputs it was started with" },
    })
    .post(
      "/v1/runs/:id/cancel",
      ({ params, caller, answer }) => answer.accepted(locationOf, () => runs.cancel(params.id, caller)),
      {
        access: "user",
        params: RunPath,
        response: { 202: Run },
        detail: { tags, summary: "Cancel a run" },
      },
    )
    .post(
      "/v1/runs/:id/restart",
      ({ params, body, caller, answer }) =>
        answer.accepted(locationOf, () => runs.restart(params.id, body ?? {}, caller)),
      {
        access: "user",
        params: RunPath,
        body: t.Optional(RunRestart),
        response: { 202: Run },
        detail: { tags, summary: "Restart an ended run, from its first step not succeeded or from a named step" },
      },
    )
    .post(
      "/v1/runs/:id/approve",
      ({ params, body, caller, answer }) => answer.done(() => runs.approve(params.id, body, caller)),
      {
        access: "user",
        params: RunPath,
        body: Approval,
        response: { 200: Run },
        detail: { tags, summary: "Answer a step that waits for a person" },
      },
    )
    .get("/v1/steps/:run_id", ({ params, query, caller }) => views.steps(params.run_id, pageOf(query), caller), {
      access: "user",
      params: t.Object({ run_id: t.String() }),
      query: t.Object(PageQuery),
      response: { 200: listOf(Step) },
      detail: { tags: ["steps"], summary: "Steps of a run in order, every attempt" },
    })
    .get(
      "/v1/steps/:run_id/:step_id",
      ({ params, caller }) => views.step(params.run_id, params.step_id, undefined, caller),
      {
        access: "user",
        params: StepPath,
        response: { 200: Step },
        detail: { tags: ["steps"], summary: "One step, its latest attempt" },
      },
    )
    .get(
      "/v1/steps/:run_id/:step_id/output",
      ({ params, query, caller, request }) => {
        const output = views.output(params.run_id, params.step_id, query.attempt, caller);
        if (!request.headers.get("accept")?.includes("text/plain")) return output;
        return new Response(output.text, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
      },
      {
        access: "user",
        params: StepPath,
        query: t.Object({ attempt: t.Optional(queryInteger({ minimum: 1 })) }),
        response: { 200: StepOutput },
        detail: { tags: ["steps"], summary: "Output of a step; as text with Accept: text/plain" },
      },
    )
    .get(
      "/v1/agents/:id/runs",
      ({ params, query, caller }) => {
        if (!agents.exists(params.id)) throw notFound("agent");
        return views.ofAgent(params.id, pageOf(query), caller);
      },
      {
        access: "user",
        params: t.Object({ id: t.String() }),
        query: t.Object(PageQuery),
        response: { 200: listOf(Run) },
        detail: { tags: ["agents"], summary: "Runs that the agent took part in, newest first" },
      },
    )
    .get(
      "/v1/internal/run-history",
      ({ query, caller }) => {
        if (query.agent_id !== undefined) assertOwnAgent(caller, query.agent_id);
        return views.history(query, pageOf(query), caller);
      },
      {
        access: "user",
        execution: true,
        query: t.Object({
          ...PageQuery,
          project_id: t.Optional(t.String()),
          task_id: t.Optional(t.String()),
          agent_id: t.Optional(t.String()),
          status: t.Optional(t.Union([RunStatus, t.Literal("terminal")])),
          since: t.Optional(Since),
        }),
        response: { 200: listOf(HistoryItem) },
        detail: { tags: ["history"], summary: "Execution history" },
      },
    );
}
