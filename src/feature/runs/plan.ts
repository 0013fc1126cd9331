/** A run's own pipeline as a graph, made from the run's copy of the definition, and how far the run is in it. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull } from "../../core/schema.ts";
import {
  agentOf,
  gotoOf,
  isCommand,
  kindOfStep,
  type PipelineDefinition,
  type PipelineStep,
  routeOf,
  STEP_KINDS,
} from "../../engine/pipeline/definition.ts";
import { jumpOf } from "../../engine/pipeline/outcome.ts";
import { type Run, StepStatus } from "./model.ts";
import type { ProgressRow, RunRow, StepRow } from "./store.ts";

const StepPlan = t.Object(
  {
    id: t.String(),
    name: t.String(),
    description: orNull(t.String()),
    kind: oneOf(...STEP_KINDS),
    agent_id: orNull(t.String()),
    command: orNull(t.String({ description: "Command line of a step without a model, as the pipeline defines it." })),
    needs: t.Array(t.String(), { description: "Ids of the steps that must end before the step begins." }),
    leads_back: t.Array(
      t.Object({
        to: t.String(),
        why: t.String(),
        times: t.Integer({ description: "How often the run went this way." }),
      }),
      { description: "Steps to which the step may jump, out of order." },
    ),
    when: orNull(t.String()),
    status: StepStatus,
    attempts: t.Integer({ description: "Number of attempts started so far, over all visits." }),
    children: t.Object(
      { done: t.Integer(), total: t.Integer() },
      { description: "For a step that is done for each item: number of items that are done, and of all items." },
    ),
  },
  { title: "StepPlan" },
);
export const RunPlan = t.Object(
  { run_id: t.String(), pipeline_id: t.String(), name: t.String(), steps: t.Array(StepPlan) },
  { title: "RunPlan" },
);
export type RunPlan = Static<typeof RunPlan>;
type StepPlan = Static<typeof StepPlan>;

const DONE = new Set(["succeeded", "skipped"]);

/** Steps that must have ended before the step at this index begins. */
export const needsOf = ({ steps }: PipelineDefinition, at: number): string[] => {
  const step = steps[at];
  return step?.needs ?? (at === 0 ? [] : [steps[at - 1]!.id]);
};

function leadsBack(step: PipelineStep, jumps: readonly Jumped[]): StepPlan["leads_back"] {
  const route = routeOf(step);
  const countJumps = (to: string, is: (jumped: Jumped) => boolean) =>
    jumps.filter((jumped) => jumped.to === to && is(jumped)).length;
  const readVerdict = ({ outputs }: Jumped) => String(outputs[route?.on ?? ""]);
  const routed = Object.entries(route?.to ?? {}).map(([value, to]) => ({
    to,
    why: `${route?.on} is ${value}`,
    times: countJumps(to, (jumped) => readVerdict(jumped) === value),
  }));
  const rule = gotoOf(step);
  const isFailed = (jumped: Jumped) => jumped.status !== "succeeded" && route?.to[readVerdict(jumped)] === undefined;
  return rule ? [...routed, { to: rule.goto, why: "failed", times: countJumps(rule.goto, isFailed) }] : routed;
}

interface Jumped {
  to: string;
  status: Static<typeof StepStatus>;
  outputs: Record<string, unknown>;
}

/**
 * Every jump to another step that ended attempts of this step caused. The last attempt may not have jumped, because
 * visits are limited.
 */
function jumpsOf(definition: PipelineDefinition, step: PipelineStep, rows: readonly StepRow[]): Jumped[] {
  const place = (id: string) => definition.steps.findIndex((one) => one.id === id);
  return rows
    .filter((row) => row.step_id === step.id && row.item_index === null)
    .flatMap((row) => {
      const to = jumpOf(step, row)?.to;
      const next = rows.find((one) => one.step_id === to && one.item_index === null && one.position > row.position);
      // Visits begin at 1 again after a restart, so then the restart led there, not a jump.
      if (to === undefined || !next || (next.visit === 1 && place(to) <= place(step.id))) return [];
      return [{ to, status: row.status, outputs: row.outputs }];
    });
}

/** The current attempt of a step: the latest one that neither a restart nor a jump back has superseded. */
const latestOf = <Row extends ProgressRow>(rows: readonly Row[], id: string): Row | undefined =>
  rows.findLast((row) => row.step_id === id && row.item_index === null && !row.superseded);

export function planOf(run: RunRow, rows: readonly StepRow[]): RunPlan {
  const { definition } = run;
  const steps = definition.steps.map((step, at): StepPlan => {
    const own = rows.filter((row) => row.step_id === step.id);
    const children = own.filter((row) => row.item_index !== null && !row.superseded);
    return {
      id: step.id,
      name: step.name ?? step.id,
      description: step.description ?? null,
      kind: kindOfStep(step),
      agent_id: agentOf(step),
      command: isCommand(step) ? step.run : null,
      needs: needsOf(definition, at),
      leads_back: leadsBack(step, jumpsOf(definition, step, rows)),
      when: step.when ?? null,
      status: latestOf(rows, step.id)?.status ?? "pending",
      attempts: own.filter((row) => row.item_index === null && row.started_at !== null).length,
      children: { done: children.filter((row) => DONE.has(row.status)).length, total: children.length },
    };
  });
  return { run_id: run.id, pipeline_id: run.pipeline_id, name: definition.name, steps };
}

export type Progress = Pick<
  Run,
  "steps_done" | "steps_total" | "current_step" | "current_step_name" | "waiting_reason"
>;

/** How far the run is, and at which step. */
export function progressOf(
  { status: runStatus, definition: { steps } }: Pick<RunRow, "status" | "definition">,
  rows: readonly ProgressRow[],
): Progress {
  const counting = steps.flatMap(({ id }) => latestOf(rows, id) ?? []);
  const findByStatus = (...statuses: string[]) => counting.find(({ status }) => statuses.includes(status));
  const current =
    findByStatus("waiting") ??
    findByStatus("running") ??
    findByStatus("queued") ??
    (runStatus === "failed" ? findByStatus("failed") : undefined);
  const named = current && steps.find(({ id }) => id === current.step_id);
  const waiting = runStatus === "waiting" ? findByStatus("waiting") : undefined;
  return {
    steps_done: counting.filter(({ status }) => DONE.has(status)).length,
    steps_total: steps.length,
    current_step: current?.step_id ?? null,
    current_step_name: named ? (named.name ?? named.id) : null,
    waiting_reason: waiting ? String(waiting.inputs["message"] ?? "") : null,
  };
}
