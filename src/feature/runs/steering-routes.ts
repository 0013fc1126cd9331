/**
 * Operations with which people steer many runs: waiting approvals, a run's plan, cancelling and restarting several
 * runs.
 */

import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf } from "../../core/schema.ts";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryInteger } from "../../http/schema.ts";
import { AnyApproval, ApprovalAnswers, type ApprovalList, BulkOutcome, eachOnItsOwn } from "./approvals.ts";
import { type Overview, RunAtWork, RunDay } from "./overview.ts";
import { planOf, RunPlan } from "./plan.ts";
import type { Runs } from "./service.ts";
import type { RunRow, RunStore } from "./store.ts";
import { RunSum, type RunSums, SUM_DAYS, SUMMED_MAX, SumsBy } from "./sums.ts";
import { RunTimeline } from "./timeline.ts";
import type { RunViews } from "./views.ts";

/** Most running runs in one answer: each is read with its steps and its last message. */
const AT_WORK_MAX = 20;
const DAYS_MAX = 90;
const DAYS = 14;

const RUNS_MAX = 200;
const BulkRuns = t.Object({
  action: oneOf("cancel", "restart"),
  run_ids: t.Array(t.String({ maxLength: 100 }), { minItems: 1, maxItems: RUNS_MAX, uniqueItems: true }),
});
const Outcomes = t.Object({ items: t.Array(BulkOutcome) }, { title: "BulkOutcomes" });

interface SteeringDeps {
  runs: Runs;
  views: RunViews;
  rows: RunStore;
  approvals: ApprovalList;
  overview: Overview;
  sums: RunSums;
  timelineOf(run: RunRow): RunTimeline;
}

export function steeringRoutes({ runs, views, rows, approvals, overview, sums, timelineOf }: SteeringDeps) {
  return tagOperations("runs", [
    defineOperation("listApprovals", "GET /v1/approvals", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        state: t.Optional(oneOf("waiting", "answered")),
        kind: t.Optional(oneOf("step", "permission")),
      }),
      answer: listOf(AnyApproval),
      summary: "List what waits for a person, with the effect of each answer; newest first",
      handler: ({ query, caller }) => approvals.list(query.state ?? "waiting", query.kind, pageOf(query), caller),
    }),
    defineOperation("answerApprovals", "POST /v1/approvals", {
      access: "user",
      body: ApprovalAnswers,
      answer: Outcomes,
      summary: "Answer several approvals independently",
      handler: ({ body, caller }) => ({ items: approvals.answer(body.answers, caller) }),
    }),
    defineOperation("getRunPlan", "GET /v1/runs/:id/plan", {
      access: "user",
      answer: RunPlan,
      summary: "Get a run's own copy of the pipeline as a graph, with the state of each step",
      handler: ({ params, caller }) => {
        const run = views.rowFor(params.id, caller);
        return planOf(run, rows.stepsOf(run.id));
      },
    }),
    defineOperation("getRunTimeline", "GET /v1/runs/:id/timeline", {
      access: "user",
      answer: RunTimeline,
      summary: "Get a timeline of when a run's step attempts waited, worked and asked a model",
      description: "Covers the newest 1,000 attempts, without their inputs and outputs.",
      handler: ({ params, caller }) => timelineOf(views.rowFor(params.id, caller)),
    }),
    defineOperation("listRunsAtWork", "GET /v1/runs/at-work", {
      access: "user",
      ...pagesOf(RunAtWork),
      summary: "List running and queued runs with their steps and the agent's last words, newest first",
      description: "An answer holds at most 20 runs.",
      handler: ({ query, caller }) => {
        const page = pageOf(query);
        const limit = Math.min(page.limit, AT_WORK_MAX);
        const { items, next_cursor } = views.list({ status: "running,queued" }, { ...page, limit }, caller);
        return { items: overview.atWork(items), next_cursor };
      },
    }),
    defineOperation("listRunDays", "GET /v1/runs/days", {
      access: "user",
      query: t.Object({
        days: t.Optional(
          queryInteger({ minimum: 1, maximum: DAYS_MAX, description: `Number of days; default ${DAYS}.` }),
        ),
      }),
      answer: t.Object({ items: t.Array(RunDay) }, { title: "RunDays" }),
      summary: "Count by day (UTC) of creation how recent runs ended, oldest day first",
      description: "Counts your own runs; for an administrator, everybody's.",
      handler: ({ query, caller }) => ({ items: overview.days(query.days ?? DAYS, caller) }),
    }),
    defineOperation("listRunSums", "GET /v1/runs/sums", {
      access: "user",
      query: t.Object({ by: SumsBy }),
      answer: t.Object({ items: t.Array(RunSum) }, { title: "RunSums" }),
      summary: "Sum up the outcomes and costs of each pipeline's or project's latest runs",
      description: `Covers the newest ${SUMMED_MAX / 1_000},000 runs of the last ${SUM_DAYS} days: your own or, for an administrator, everybody's.`,
      handler: ({ query, caller }) => ({ items: sums.read(query.by, caller) }),
    }),
    defineOperation("steerRuns", "POST /v1/runs/bulk", {
      access: "user",
      scope: "runs",
      body: BulkRuns,
      answer: Outcomes,
      summary: "Cancel or restart several runs independently",
      handler: ({ body, caller }) => {
        const act: Record<Static<typeof BulkRuns>["action"], (id: string) => string> = {
          cancel: (id) => runs.cancel(id, caller).status,
          restart: (id) => runs.restart(id, {}, caller).status,
        };
        const items = body.run_ids.map((run_id) => ({ run_id }));
        return { items: eachOnItsOwn(items, ({ run_id }) => act[body.action](run_id)) };
      },
    }),
  ]);
}
