/** Approvals that wait for a person, with the effect of each answer. */
import { type Static, Type as t } from "@sinclair/typebox";
import { toTimestamp } from "../../core/clock.ts";
import { isProblem } from "../../core/errors.ts";
import { ID_PREFIXES } from "../../core/ids.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { type PipelineDefinition, type PipelineStep, stepName } from "../../engine/pipeline/definition.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { PermissionRequest } from "../permissions/model.ts";
import type { PermissionService } from "../permissions/service.ts";
import { CallsWithoutPrice } from "../usage/model.ts";
import { Approval } from "./model.ts";
import { needsOf } from "./plan.ts";
import type { Runs } from "./service.ts";
import type { RunRow, RunStore, StepRow } from "./store.ts";

const Effect = t.Object(
  {
    outcome: oneOf("go_on", "fail_run", "go_to"),
    steps: t.Array(t.String(), { description: "Ids of the steps that begin with this answer." }),
    says: t.String({ description: "The effect as a sentence." }),
  },
  { title: "ApprovalEffect" },
);

export const PendingApproval = t.Object(
  {
    kind: t.Literal("step"),
    id: t.String(),
    run_id: t.String(),
    step_id: t.String(),
    step_name: t.String(),
    state: oneOf("waiting", "approved", "refused"),
    message: t.String(),
    comment: orNull(t.String()),
    pipeline_id: t.String(),
    pipeline_name: t.String({ description: "Name of the pipeline when the run began." }),
    task_description: t.String(),
    project_id: orNull(t.String()),
    project_name: orNull(t.String()),
    branch: orNull(t.String()),
    cost_usd: t.Number(),
    calls_without_price: CallsWithoutPrice,
    budget_usd: orNull(t.Number()),
    requested_at: orNull(Time),
    answered_at: orNull(Time),
    deadline: orNull(Time),
    on_timeout: orNull(oneOf("fail", "approve")),
    results: t.Array(
      t.Object({ step_id: t.String(), step_name: t.String(), outputs: t.Record(t.String(), t.Unknown()) }),
      {
        description: "Outputs of the steps before the approval.",
      },
    ),
    if_approved: Effect,
    if_refused: Effect,
  },
  { title: "PendingApproval" },
);
export type PendingApproval = Static<typeof PendingApproval>;
/** An approval: a step of a pipeline that waits for a person, or a tool call about which an agent's rules ask. */
export const AnyApproval = t.Union([PendingApproval, PermissionRequest]);
export type AnyApproval = Static<typeof AnyApproval>;
type Effect = Static<typeof Effect>;

const ANSWERS_MAX = 50;

export const ApprovalAnswers = t.Object({
  answers: t.Array(t.Intersect([t.Object({ run_id: t.String({ maxLength: 100 }) }), Approval]), {
    minItems: 1,
    maxItems: ANSWERS_MAX,
  }),
});
export const BulkOutcome = t.Object(
  {
    run_id: t.String(),
    ok: t.Boolean(),
    status: orNull(t.String({ description: "Status of the run afterwards." })),
    code: orNull(t.String({ description: "Problem code, as the operation for a single item would answer it." })),
    detail: orNull(t.String()),
  },
  { title: "BulkOutcome" },
);
export type BulkOutcome = Static<typeof BulkOutcome>;

/** Acts on each item separately, so that a failed one does not prevent the others. */
export function eachOnItsOwn<T extends { run_id: string }>(items: T[], act: (item: T) => string): BulkOutcome[] {
  return items.map((item) => {
    try {
      return { run_id: item.run_id, ok: true, status: act(item), code: null, detail: null };
    } catch (error) {
      if (!isProblem(error)) throw error;
      return { run_id: item.run_id, ok: false, status: null, code: error.code, detail: error.detail };
    }
  });
}

function effectsOf(definition: PipelineDefinition, step: PipelineStep): { yes: Effect; no: Effect } {
  const nameOf = (id: string) => stepName(definition, id);
  const goOn = (steps: string[]): Effect => {
    const names = steps.length > 0 ? steps.map(nameOf).join(", ") : "the end of the run";
    return { outcome: "go_on", steps, says: `Continues with ${names}.` };
  };
  const goTo = (id: string): Effect => ({ outcome: "go_to", steps: [id], says: `Goes to ${nameOf(id)}.` });
  const next = definition.steps.flatMap(({ id }, at) => (needsOf(definition, at).includes(step.id) ? [id] : []));
  const route = "route" in step ? step.route : undefined;
  const routed = route?.on === "approved" ? route.to : {};
  const rule = step.on_failure;
  const refused: Effect =
    typeof rule === "object"
      ? goTo(rule.goto)
      : rule === "continue"
        ? goOn(next)
        : { outcome: "fail_run", steps: [], says: "The run ends as failed." };
  return { yes: routed["true"] ? goTo(routed["true"]) : goOn(next), no: refused };
}

export type ApprovalList = ReturnType<typeof createApprovals>;

/** The time-ordered part of an id. It puts ids of both kinds into one order. */
const timeOf = (id: string): string => id.slice(id.lastIndexOf("_") + 1);
const idAt = (kind: "step" | "permission", after: string | null): string | null =>
  after === null ? null : `${ID_PREFIXES[kind]}_${timeOf(after)}`;

interface ApprovalsDeps {
  rows: RunStore;
  runs: Pick<Runs, "approve">;
  permissions: Pick<PermissionService, "rowsFor" | "present">;
}

export function createApprovals({ rows, runs, permissions }: ApprovalsDeps) {
  const present = ({ run, step }: { run: RunRow; step: StepRow }): PendingApproval => {
    const { definition } = run;
    const at = definition.steps.findIndex(({ id }) => id === step.step_id);
    const planned = definition.steps[at]!;
    const taken = rows.stepsOf(run.id);
    const before = new Set(needsOf(definition, at));
    const effects = effectsOf(definition, planned);
    const { deadline } = step;
    const { cost_usd, calls_without_price } = rows.spentByRun(run.id);
    const approved = step.outputs["approved"];
    return {
      kind: "step",
      id: step.id,
      run_id: run.id,
      step_id: step.step_id,
      step_name: stepName(definition, step.step_id),
      state: step.status === "waiting" ? "waiting" : approved === true ? "approved" : "refused",
      message: String(step.inputs["message"] ?? ""),
      comment: typeof step.outputs["comment"] === "string" ? step.outputs["comment"] : null,
      pipeline_id: run.pipeline_id,
      pipeline_name: definition.name,
      task_description: run.task_description,
      project_id: run.project_id,
      project_name: run.project_name,
      branch: run.branch,
      cost_usd,
      calls_without_price,
      budget_usd: run.budget_usd,
      requested_at: step.started_at,
      answered_at: step.finished_at,
      deadline: deadline === null ? null : toTimestamp(deadline),
      on_timeout: deadline !== null && "approval" in planned ? (planned.approval.on_timeout ?? "fail") : null,
      results: taken
        .filter((row) => before.has(row.step_id) && row.status === "succeeded" && !row.superseded)
        .map(({ step_id, outputs }) => ({ step_id, step_name: stepName(definition, step_id), outputs })),
      if_approved: effects.yes,
      if_refused: effects.no,
    };
  };
  return {
    /** The approval that a run waits for at this step, by its name; undefined when it does not wait there. */
    waitingAt(runId: string, stepId: string): PendingApproval | undefined {
      const run = rows.run(runId);
      const step = rows.stepsOf(runId).findLast((one) => one.step_id === stepId);
      return run && step?.status === "waiting" ? present({ run, step }) : undefined;
    },
    /** @param kind limits the list to one kind. */
    list(
      state: "waiting" | "answered",
      kind: AnyApproval["kind"] | undefined,
      { after, limit }: Page,
      caller: Caller,
    ): ListAnswer<AnyApproval> {
      const waiting = state === "waiting";
      const steps =
        kind === "permission"
          ? []
          : rows.approvals({ waiting, readableBy: caller }, idAt("step", after), limit + 1).map((found) => ({
              id: found.step.id,
              toView: (): AnyApproval => present(found),
            }));
      const calls =
        kind === "step"
          ? []
          : permissions.rowsFor(waiting, caller, idAt("permission", after), limit + 1).map((row) => ({
              id: row.id,
              toView: (): AnyApproval => permissions.present(row),
            }));
      const found = [...steps, ...calls].sort((a, b) => (timeOf(a.id) < timeOf(b.id) ? 1 : -1));
      return listAnswer(
        found,
        { after, limit },
        ({ id }) => timeOf(id),
        ({ toView }) => toView(),
      );
    },
    answer: (answers: Static<typeof ApprovalAnswers>["answers"], caller: Caller): BulkOutcome[] =>
      eachOnItsOwn(answers, ({ run_id, ...answer }) => runs.approve(run_id, answer, caller).status),
  };
}
