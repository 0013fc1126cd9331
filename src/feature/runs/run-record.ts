/**
 * A run with its steps within one transaction. The rows are read once; every change follows the state tables
 * (`RunState`, which the planner uses as well) and is written with its event. Only this file changes the status of a
 * run or a step.
 */
import { toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { isStepEnd, type RunStatus, type StepStatus } from "../../core/run-states.ts";
import type { Decision, StepKey } from "../../engine/pipeline/decisions.ts";
import { agentOf, type PipelineStep } from "../../engine/pipeline/definition.ts";
import type { StepRow as PlanStep, RunProject } from "../../engine/pipeline/rows.ts";
import { RunState } from "../../engine/pipeline/run-state.ts";
import type { WriteTx } from "../../store/store.ts";
import {
  approvalRequested,
  runCancelled,
  runComplete,
  runFailed,
  runRestarted,
  runWaiting,
  stepComplete,
  stepFailed,
  stepQueued,
  stepSkipped,
  stepStarted,
} from "./events.ts";
import type { RunRow, RunStore, StepRow } from "./store.ts";

const RUN_EVENTS = {
  succeeded: runComplete,
  failed: runFailed,
  cancelled: runCancelled,
  waiting: runWaiting,
} as const;
const STEP_EVENTS = {
  queued: stepQueued,
  running: stepStarted,
  succeeded: stepComplete,
  failed: stepFailed,
  skipped: stepSkipped,
  cancelled: stepFailed,
} as const;

/** Fields of a step that the planner does not set. */
export type StepExtras = Partial<Pick<StepRow, "data" | "deadline" | "execution_id" | "model" | "session_id" | "text">>;

export type RunRecord = ReturnType<typeof openRunRecord>;

interface RunRecordDeps {
  store: RunStore;
  /** Time of the changes, ms since the epoch. */
  now: number;
  project: RunProject | null;
}

const keyOf = ({ step_id, index, attempt }: StepKey): string => [step_id, index, attempt].join("\n");
const planStep = ({ item_index, ...row }: StepRow): PlanStep => ({ ...row, index: item_index });

/** @param steps the run's steps, oldest first: all of them, unless only one is to change. */
export function openRunRecord(
  tx: WriteTx,
  first: RunRow,
  steps: readonly StepRow[],
  { store, now, project }: RunRecordDeps,
) {
  let row = first;
  const at = toTimestamp(now);
  const { definition } = row;
  const state = new RunState({ ...row, project }, steps.map(planStep), () => newId("step"));
  const stored = new Map(steps.map((step) => [keyOf({ ...step, index: step.item_index }), step]));
  const stepOf = (key: StepKey): StepRow => {
    const step = stored.get(keyOf(key));
    if (!step) throw new Error(`The run has no step ${keyOf(key)}.`);
    return step;
  };
  /** @throws Error when the definition has no such step. */
  const definedAs = (stepId: string): PipelineStep => {
    const step = definition.steps.find(({ id }) => id === stepId);
    if (!step) throw new Error(`The pipeline ${definition.id} has no step ${stepId}.`);
    return step;
  };
  /** References in events about the run or one of its steps. */
  const toRefs = (step?: StepRow) => ({
    ...refsOf(row),
    ...(step && {
      step_id: step.step_id,
      agent_id: step.agent_id ?? undefined,
      session_id: step.session_id ?? undefined,
    }),
  });

  function addStep(step: PlanStep): StepRow {
    const defined = definedAs(step.step_id);
    const agent_id = agentOf(defined);
    const { index: item_index, ...planned } = step;
    const added = store.insertStep({
      ...planned,
      item_index,
      agent_id,
      run_id: row.id,
      position: stored.size,
      created_at: at,
      text: "",
      data: {},
    });
    stored.set(keyOf(step), added);
    return added;
  }
  function writeStep(step: PlanStep, extras: StepExtras): StepRow {
    const before = stepOf(step);
    const { status, inputs, outputs, error, started_at, superseded } = step;
    const finished_at = isStepEnd(status) ? (before.finished_at ?? at) : null;
    const change = { status, inputs, outputs, error, started_at, superseded, finished_at, ...extras };
    store.updateStep(before.id, change);
    const after = { ...before, ...change };
    stored.set(keyOf(step), after);
    if (after.status !== before.status) emitStep(after);
    return after;
  }
  function emitStep(step: StepRow): void {
    const { status, attempt, max_attempts, item_index: index, inputs, outputs, error } = step;
    if (status === "pending") return;
    if (status === "waiting") {
      const deadline = step.deadline === null ? null : toTimestamp(step.deadline);
      const data = { step_id: step.step_id, message: String(inputs["message"]), deadline };
      return tx.emit(approvalRequested, { ...toRefs(step), data });
    }
    const data = {
      status,
      attempt,
      max_attempts,
      ...(index === null ? {} : { index }),
      ...(status === "queued" ? { input: String(inputs["input"] ?? inputs["command"] ?? "") } : {}),
      ...(status === "succeeded" ? { outputs } : {}),
      ...(error ? { error } : {}),
    };
    tx.emit(STEP_EVENTS[status], { ...toRefs(step), data });
  }
  function writeRun(change: Partial<RunRow>): void {
    const { status, error } = state.run;
    const written = { status, error, ...change };
    store.updateRun(row.id, written);
    row = { ...row, ...written };
    emitRun(status);
  }
  function emitRun(status: RunStatus): void {
    const { pipeline_id, outputs, error, restarted_from } = row;
    if (status === "queued")
      return tx.emit(runRestarted, { ...toRefs(), data: { pipeline_id, from_step: restarted_from } });
    if (status === "running") return;
    const data = { status, pipeline_id, outputs, ...store.spentByRun(row.id), ...(error ? { error } : {}) };
    tx.emit(RUN_EVENTS[status], { ...toRefs(), data });
  }

  return {
    state,
    definition,
    get row(): RunRow {
      return row;
    },
    definedAs,
    step: stepOf,
    toRefs,
    /** Carries out a decision. @returns the changed step's row; undefined when the decision was about the run. */
    decide(decision: Decision, extras: StepExtras = {}): StepRow | undefined {
      const changed = state.apply(decision, now);
      if (decision.kind === "add_step") return addStep(changed!);
      if (decision.kind === "move_run") {
        if (decision.to === "queued") writeRun({ outputs: {}, finished_at: null });
        else writeRun(decision.to === "running" && row.started_at === null ? { started_at: at } : {});
      } else if (decision.kind === "finish_run") writeRun({ outputs: decision.outputs, finished_at: at });
      return changed && writeStep(changed, extras);
    },
    /** Changes a step as an agent's work reports. */
    report(
      key: StepKey,
      to: StepStatus,
      change: Pick<Partial<PlanStep>, "outputs" | "error">,
      extras: StepExtras = {},
    ): void {
      writeStep(state.report(key, to, change, now), extras);
    },
  };
}

/** The references of a run's events. */
export const refsOf = ({ id, project_id, created_by }: Pick<RunRow, "id" | "project_id" | "created_by">) => ({
  run_id: id,
  project_id: project_id ?? undefined,
  user_id: created_by ?? undefined,
});
