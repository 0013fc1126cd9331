/** What people steer many runs with: approvals that wait, a run's plan, cancelling and restarting several. */
import { type Static, Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { oneOf } from "../../core/schema.ts";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { ApprovalAnswers, type ApprovalList, BulkOutcome, eachOnItsOwn, PendingApproval } from "./approvals.ts";
import { planOf, RunPlan } from "./plan.ts";
import type { Runs } from "./service.ts";
import type { RunStore } from "./store.ts";
import type { RunViews } from "./views.ts";

const RUNS_MAX = 200;
const BulkRuns = t.Object({
  action: oneOf("cancel", "restart"),
  run_ids: t.Array(t.String({ maxLength: 100 }), { minItems: 1, maxItems: RUNS_MAX, uniqueItems: true }),
});
const Outcomes = t.Object({ items: t.Array(BulkOutcome) }, { title: "BulkOutcomes" });

export interface SteeringDeps {
  runs: Runs;
  views: RunViews;
  rows: RunStore;
  approvals: ApprovalList;
}

export function steeringRoutes(base: Base, { runs, views, rows, approvals }: SteeringDeps) {
  const tags = ["runs"];
  return new Elysia({ name: "skep/runs-steering" })
    .use(base)
    .get("/v1/approvals", ({ query, caller }) => approvals.list(query.state ?? "waiting", pageOf(query), caller), {
      access: "user",
      query: t.Object({ ...PageQuery, state: t.Optional(oneOf("waiting", "answered")) }),
      response: { 200: listOf(PendingApproval) },
      detail: { tags, summary: "What waits for a person, with what each answer does; newest first" },
    })
    .post("/v1/approvals", ({ body, caller }) => ({ items: approvals.answer(body.answers, caller) }), {
      access: "user",
      body: ApprovalAnswers,
      response: { 200: Outcomes },
      detail: { tags, operationId: "answerApprovals", summary: "Answer several approvals, each on its own" },
    })
    .get(
      "/v1/runs/:id/plan",
      ({ params, caller }) => {
        const run = views.rowFor(params.id, caller);
        return planOf(run, rows.stepsOf(run.id));
      },
      {
        access: "user",
        params: t.Object({ id: t.String() }),
        response: { 200: RunPlan },
        detail: { tags, summary: "The run's own pipeline as a graph, with the state of each step" },
      },
    )
    .post(
      "/v1/runs/bulk",
      ({ body, caller }) => {
        const act: Record<Static<typeof BulkRuns>["action"], (id: string) => string> = {
          cancel: (id) => runs.cancel(id, caller).status,
          restart: (id) => runs.restart(id, {}, caller).status,
        };
        const items = body.run_ids.map((run_id) => ({ run_id }));
        return { items: eachOnItsOwn(items, ({ run_id }) => act[body.action](run_id)) };
      },
      {
        access: "user",
        body: BulkRuns,
        response: { 200: Outcomes },
        detail: { tags, operationId: "steerRuns", summary: "Cancel or restart several runs, each on its own" },
      },
    );
}
