/**
 * What people do to a run: cancel it, start it again, answer an approval. The results are decisions like the planner's.
 */

import { isRunEnd, isStepEnd } from "../../core/run-states.ts";
import type { Decision, StepKey } from "./decisions.ts";
import type { PipelineDefinition } from "./definition.ts";
import { type PipelineGraph, pipelineGraph } from "./graph.ts";
import { jumpOf, outcomeOf } from "./outcome.ts";
import type { RunRow, StepRow } from "./rows.ts";
import { RunState } from "./run-state.ts";
import { outputsOf } from "./scope.ts";

/** Cancels the run and every step that has not ended. Empty when the run has already ended. */
export function planStop(definition: PipelineDefinition, run: RunRow, rows: readonly StepRow[]): Decision[] {
  if (isRunEnd(run.status)) return [];
  const cancelled: Decision[] = rows
    .filter(({ status, superseded }) => !superseded && !isStepEnd(status))
    .map(({ step_id, index, attempt }) => ({ kind: "cancel_step", step_id, index, attempt, reason: "run_cancelled" }));
  const outputs = outputsOf(pipelineGraph(definition), new RunState(run, rows));
  return [...cancelled, { kind: "finish_run", status: "cancelled", outputs, error: null }];
}

/**
 * Starts an ended run again from every step that has not succeeded and, if given, from `fromStep`. All steps that
 * depend on those run again too, and their earlier outputs are dropped. A run that failed because it went back too
 * often goes back once more, with its count reset. A run that succeeded starts again only from `fromStep`. Empty when
 * the run has not ended, when it succeeded and no step is named, or when there is no such step.
 */
export function planRestart(
  definition: PipelineDefinition,
  run: RunRow,
  rows: readonly StepRow[],
  fromStep?: string,
): Decision[] {
  const graph = pipelineGraph(definition);
  if (!isRunEnd(run.status) || (run.status === "succeeded" && fromStep === undefined)) return [];
  if (fromStep !== undefined && !graph.step(fromStep)) return [];
  const state = new RunState(run, rows);
  const again = new Set<string>();
  const add = (id: string) => {
    again.add(id);
    for (const other of graph.downstream(id)) again.add(other);
  };
  for (const step of graph.steps)
    if (outcomeOf(step, state, graph).kind !== "settled" || isCancelled(step.id, state)) add(step.id);
  if (fromStep !== undefined) add(fromStep);
  for (const target of exhaustedTargets(run, state, graph)) add(target);
  if (again.size === 0) for (const { id } of graph.steps) add(id);
  const dropped: Decision[] = rows
    .filter(({ step_id, superseded }) => !superseded && again.has(step_id))
    .map(({ step_id, index, attempt }) => ({ kind: "supersede_step", step_id, index, attempt }));
  return [...dropped, { kind: "move_run", to: "queued" }];
}

/**
 * Starts another attempt of an ended run, however it ended: every step runs again. Empty while the run has not ended.
 */
export function planAgain(definition: PipelineDefinition, run: RunRow, rows: readonly StepRow[]): Decision[] {
  if (!isRunEnd(run.status)) return [];
  const dropped: Decision[] = rows
    .filter(({ superseded }) => !superseded)
    .map(({ step_id, index, attempt }) => ({ kind: "supersede_step", step_id, index, attempt }));
  return definition.steps.length === 0 ? [] : [...dropped, { kind: "move_run", to: "queued" }];
}

const isCancelled = (id: string, state: RunState): boolean => state.latest(id)?.status === "cancelled";

/** The step to which the run would have gone back once more when it exceeded `max_visits`. */
function exhaustedTargets(run: RunRow, state: RunState, graph: PipelineGraph): string[] {
  const step = run.error?.code === "max_visits" && run.error.step_id ? graph.step(run.error.step_id) : undefined;
  const row = step && state.latest(step.id);
  const jump = step && row ? jumpOf(step, row) : null;
  return jump ? [jump.to] : [];
}

/** Applies a person's answer to an approval that is `waiting`. A refusal fails the step. */
export function answerApproval(key: StepKey, answer: { approved: boolean; comment?: string }): Decision {
  const { approved, comment = "" } = answer;
  const { step_id, index, attempt } = key;
  return {
    kind: "finish_step",
    step_id,
    index,
    attempt,
    status: approved ? "succeeded" : "failed",
    outputs: { approved, comment, timed_out: false },
    error: approved ? null : { code: "rejected", message: comment || "A person said no." },
  };
}
