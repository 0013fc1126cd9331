/**
 * Carrying out what the planner decides, inside the transaction of what made it decide: rows, events, executions.
 * The only place that changes the status of a run or a step.
 */
import { type Clock, timestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import type { WriteTx } from "../../store/store.ts";
import type { RowError } from "../../store/tables/executions.ts";
import { activity } from "../events/events.ts";
import type { ExecutionDraft } from "../executions/model.ts";
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
  stepRetrying,
  stepSkipped,
  stepStarted,
} from "./events.ts";
import type {
  Decision,
  PipelineDefinition,
  PipelineStep,
  Planner,
  PlanRun,
  PlanStep,
  RunStatus,
  StepStatus,
} from "./planner.ts";
import type { RunRow, RunStore, StepRow } from "./store.ts";

export interface AdvanceDeps {
  store: RunStore;
  clock: Clock;
  planner: Planner;
  projectOf(run: RunRow): PlanRun["project"];
  /** Queues the agent's work. @returns the session's id. */
  execute(draft: ExecutionDraft): string;
  cancelExecution(sessionId: string): void;
  /** Names of skills whose tags match the input, and those that the step always takes. */
  skillsFor(agentId: string, input: string, always: readonly string[]): string[];
  /** Seconds an agent's execution may take when neither step nor pipeline says. */
  agentTimeout(agentId: string): number;
  /** `max_attempts` of the agent's file; undefined when it says nothing, or is gone. */
  agentAttempts(agentId: string): number | undefined;
}

export interface Advance {
  /** Plans and carries out until there is nothing more to do now. */
  run(tx: WriteTx, runId: string): void;
  cancel(tx: WriteTx, runId: string): void;
  restart(tx: WriteTx, runId: string, fromStep: string | undefined): void;
  /** Moves a step by its state table and tells of it. */
  moveStep(tx: WriteTx, row: StepRow, to: StepStatus, change?: Partial<StepRow>): void;
}

const planRun = (row: RunRow, project: PlanRun["project"]): PlanRun => ({
  ...row,
  status: row.status as RunStatus,
  project,
});
const planStep = ({ item_index, ...row }: StepRow): PlanStep => ({
  ...row,
  index: item_index,
  status: row.status as StepStatus,
});

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

export function createAdvance(deps: AdvanceDeps): Advance {
  const { store, clock, planner, execute, cancelExecution } = deps;
  const now = () => timestamp(clock.now());
  const definitionOf = (run: RunRow) => run.definition as PipelineDefinition;
  const stepOf = (run: RunRow, id: string): PipelineStep => definitionOf(run).steps.find((step) => step.id === id)!;
  const refs = (run: RunRow, row?: StepRow) => ({
    run_id: run.id,
    project_id: run.project_id ?? undefined,
    user_id: run.created_by ?? undefined,
    ...(row
      ? { step_id: row.step_id, agent_id: row.agent_id ?? undefined, session_id: row.session_id ?? undefined }
      : {}),
  });

  function moveStep(tx: WriteTx, row: StepRow, to: StepStatus, change: Partial<StepRow> = {}): void {
    planner.assertStepMove(row.status as StepStatus, to);
    const times = {
      ...(to === "running" || to === "waiting" ? { started_at: now() } : {}),
      ...(to in { succeeded: 1, failed: 1, skipped: 1, cancelled: 1 } ? { finished_at: now() } : {}),
    };
    const after = { ...row, status: to, ...times, ...change };
    store.updateStep(row.id, after);
    const run = store.run(row.run_id)!;
    if (to === "waiting") {
      tx.emit(approvalRequested, {
        ...refs(run, after),
        data: { step_id: row.step_id, message: String(after.inputs["message"]), deadline: deadlineOf(after) },
      });
      return;
    }
    const { attempt, max_attempts, item_index: index, outputs, error, inputs } = after;
    const data = {
      status: to,
      attempt,
      max_attempts,
      ...(index === null ? {} : { index }),
      ...(to === "queued" ? { input: String(inputs["input"] ?? "") } : {}),
      ...(to === "succeeded" ? { outputs } : {}),
      ...(error ? { error } : {}),
    };
    tx.emit(STEP_EVENTS[to as keyof typeof STEP_EVENTS], { ...refs(run, after), data });
  }

  function moveRun(tx: WriteTx, run: RunRow, to: RunStatus, change: Partial<RunRow> = {}): void {
    planner.assertRunMove(run.status as RunStatus, to);
    store.updateRun(run.id, { status: to, ...change });
    const after = store.run(run.id)!;
    const { outputs, error, restarted_from, pipeline_id } = after;
    const { cost_usd, tokens } = store.spentByRun(run.id);
    if (to in RUN_EVENTS)
      tx.emit(RUN_EVENTS[to as keyof typeof RUN_EVENTS], {
        ...refs(after),
        data: { status: to, pipeline_id, outputs, cost_usd, tokens, ...(error ? { error } : {}) },
      });
    else if (to === "queued")
      tx.emit(runRestarted, { ...refs(after), data: { pipeline_id, from_step: restarted_from } });
  }

  /** Queues an attempt: its row, and the execution that does it, together. */
  function queue(
    tx: WriteTx,
    run: RunRow,
    row: StepRow,
    { inputs, retry }: Extract<Decision, { kind: "queue_step" }>,
  ): void {
    const step = stepOf(run, row.step_id);
    if (!("agent" in step)) throw new Error(`step ${row.step_id} has no agent`);
    const { model, timeout_seconds } = planner.settingsOf(definitionOf(run), step, run);
    const input = String(inputs["input"] ?? "");
    const skills = deps.skillsFor(step.agent, input, step.skills ?? []);
    const session_id = execute({
      kind: "pipeline",
      agent_id: step.agent,
      prompt: input,
      run_id: run.id,
      step_row_id: row.id,
      step_id: row.step_id,
      project_id: run.project_id ?? undefined,
      task_id: run.task_id ?? undefined,
      user_id: run.created_by ?? undefined,
      model,
      contract: { outputs: step.outputs ?? [], schema: step.output_schema ?? null },
      skills,
      timeout_seconds: timeout_seconds ?? deps.agentTimeout(step.agent),
    });
    const queued = { inputs, session_id, agent_id: step.agent, data: { ...row.data, skills } };
    if (retry)
      tx.emit(stepRetrying, {
        ...refs(run, row),
        data: { attempt: row.attempt, max_attempts: row.max_attempts },
      });
    moveStep(tx, row, "queued", queued);
    if (skills.length > 0)
      tx.emit(activity, {
        ...refs(run, { ...row, ...queued }),
        data: { title: `skills put in: ${skills.join(", ")}`, skills },
      });
  }

  function carryOut(tx: WriteTx, runId: string, decision: Decision): void {
    const run = store.run(runId)!;
    const rows = store.stepsOf(runId);
    if (decision.kind === "move_run") {
      const begun = decision.to === "running" && run.started_at === null ? { started_at: now() } : {};
      const again = decision.to === "queued" ? { error: null, outputs: {}, finished_at: null } : {};
      return moveRun(tx, run, decision.to, { ...begun, ...again });
    }
    if (decision.kind === "finish_run") {
      const { status, outputs, error } = decision;
      return moveRun(tx, run, status, { outputs, error: error as RunRow["error"], finished_at: now() });
    }
    if (decision.kind === "add_step")
      return store.insertStep(newStep(runId, rows.length, decision, stepOf(run, decision.step_id), now()));
    const { step_id, index, attempt } = decision;
    const row = rows.find((one) => one.step_id === step_id && one.item_index === index && one.attempt === attempt)!;
    switch (decision.kind) {
      case "queue_step":
        return queue(tx, run, row, decision);
      case "open_step":
        return moveStep(tx, row, "running", { inputs: decision.inputs });
      case "ask_approval":
        return moveStep(tx, row, "waiting", {
          inputs: decision.inputs,
          data: { ...row.data, deadline: decision.deadline },
        });
      case "skip_step":
        return moveStep(tx, row, "skipped", { data: { ...row.data, reason: decision.reason } });
      case "finish_step":
        return moveStep(tx, row, decision.status, { outputs: decision.outputs, error: decision.error });
      case "cancel_step": {
        const error: RowError = { code: decision.reason, message: "It was stopped." };
        moveStep(tx, row, "cancelled", { error });
        if (row.session_id) cancelExecution(row.session_id);
        return;
      }
      case "supersede_step":
        return store.updateStep(row.id, { superseded: true });
    }
  }

  const planned = (runId: string): [PipelineDefinition, PlanRun, PlanStep[]] => {
    const run = store.run(runId)!;
    return [definitionOf(run), planRun(run, deps.projectOf(run)), store.stepsOf(runId).map(planStep)];
  };
  const carryAll = (tx: WriteTx, runId: string, decisions: readonly Decision[]) => {
    for (const decision of decisions) carryOut(tx, runId, decision);
  };
  const attemptsIn = ({ steps }: PipelineDefinition): Map<string, number> => {
    const agents = new Set(steps.flatMap((step) => ("agent" in step ? [step.agent] : [])));
    return new Map(
      [...agents].flatMap((id) => {
        const attempts = deps.agentAttempts(id);
        return attempts === undefined ? [] : [[id, attempts] as const];
      }),
    );
  };
  const run = (tx: WriteTx, runId: string): void => {
    const [definition, row, steps] = planned(runId);
    const options = { agentAttempts: attemptsIn(definition) };
    carryAll(tx, runId, planner.plan(definition, row, steps, clock.now(), options));
  };
  return {
    run,
    moveStep,
    cancel: (tx, runId) => carryAll(tx, runId, planner.cancel(...planned(runId))),
    restart(tx, runId, fromStep) {
      carryAll(tx, runId, planner.restart(...planned(runId), fromStep));
      run(tx, runId);
    },
  };
}

/** When an approval times out, ms since the epoch; null: never. */
const deadlineOf = ({ data }: StepRow): number | null =>
  typeof data["deadline"] === "number" ? data["deadline"] : null;

function newStep(
  runId: string,
  position: number,
  { step_id, index, attempt, visit, max_attempts }: Extract<Decision, { kind: "add_step" }>,
  step: PipelineStep,
  at: string,
): StepRow {
  const agent_id = "agent" in step ? step.agent : null;
  return {
    id: newId("step"),
    run_id: runId,
    step_id,
    position,
    item_index: index,
    attempt,
    max_attempts,
    visit,
    status: "pending",
    agent_id,
    inputs: {},
    outputs: {},
    text: "",
    error: null,
    model: null,
    session_id: null,
    superseded: false,
    data: {},
    created_at: at,
    started_at: null,
    finished_at: null,
  };
}
