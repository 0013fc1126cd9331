/** What people steer many runs with: approvals that wait, a run's plan, cancelling and restarting several. */

import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf } from "../../core/schema.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
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

export function steeringRoutes({ runs, views, rows, approvals }: SteeringDeps) {
  return operations("runs", [
    operation(
      "listApprovals",
      "GET /v1/approvals",
      {
        access: "user",
        query: t.Object({ ...PageQuery, state: t.Optional(oneOf("waiting", "answered")) }),
        answer: listOf(PendingApproval),
        summary: "What waits for a person, with what each answer does; newest first",
      },
      ({ query, caller }) => approvals.list(query.state ?? "waiting", pageOf(query), caller),
    ),
    operation(
      "answerApprovals",
      "POST /v1/approvals",
      { access: "user", body: ApprovalAnswers, answer: Outcomes, summary: "Answer several approvals, each on its own" },
      ({ body, caller }) => ({ items: approvals.answer(body.answers, caller) }),
    ),
    operation(
      "getRunPlan",
      "GET /v1/runs/:id/plan",
      { access: "user", answer: RunPlan, summary: "The run's own pipeline as a graph, with the state of each step" },
      ({ params, caller }) => {
        const run = views.rowFor(params.id, caller);
        return planOf(run, rows.stepsOf(run.id));
      },
    ),
    operation(
      "steerRuns",
      "POST /v1/runs/bulk",
      {
        access: "user",
        scope: "runs",
        body: BulkRuns,
        answer: Outcomes,
        summary: "Cancel or restart several runs, each on its own",
      },
      ({ body, caller }) => {
        const act: Record<Static<typeof BulkRuns>["action"], (id: string) => string> = {
          cancel: (id) => runs.cancel(id, caller).status,
          restart: (id) => runs.restart(id, {}, caller).status,
        };
        const items = body.run_ids.map((run_id) => ({ run_id }));
        return { items: eachOnItsOwn(items, ({ run_id }) => act[body.action](run_id)) };
      },
    ),
  ]);
}
