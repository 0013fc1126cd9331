/**
 * Advances runs inside the transaction of the event that concerns them: asks the planner and carries out its decisions.
 */

import { NO_AGENT } from "../../core/no-agent.ts";
import type { StepStatus } from "../../core/run-states.ts";
import type { CommandLine } from "../../engine/execution.ts";
import type { Decision, StepKey } from "../../engine/pipeline/decisions.ts";
import {
  agentOf,
  agentsOf,
  isApproval,
  isCommand,
  type PipelineDefinition,
  type PipelineStep,
} from "../../engine/pipeline/definition.ts";
import { plan } from "../../engine/pipeline/plan.ts";
import type { RunProject } from "../../engine/pipeline/rows.ts";
import { settingsOf } from "../../engine/pipeline/scope.ts";
import { answerApproval, planAgain, planRestart, planStop } from "../../engine/pipeline/steering.ts";
import type { WriteTx } from "../../store/store.ts";
import type { Core } from "../feature.ts";
import type { SessionDraft, TurnDraft } from "../sessions/model.ts";
import { stepRetrying } from "./events.ts";
import { openRunRecord, type RunRecord, type StepExtras } from "./run-record.ts";
import type { RunRow, RunStore, StepRow } from "./store.ts";

interface AdvanceDeps extends Pick<Core, "clock"> {
  store: RunStore;
  projectOf(run: RunRow): RunProject | null;
  /**
   * Queues the agent's work.
   * @param session id of the session that an earlier attempt began, or a draft of the session to open.
   */
  execute(session: string | SessionDraft, turn: TurnDraft): { id: string; session_id: string };
  endSession(sessionId: string): void;
  /** Seconds that an agent's execution may take when neither step nor pipeline says otherwise. */
  agentTimeout(agentId: string): number;
  /** `max_attempts` in the agent's file; undefined when the file does not set it, or is gone. */
  agentAttempts(agentId: string): number | undefined;
}

type QueueStep = Extract<Decision, { kind: "queue_step" }>;

/** The result of an agent's work on a step. */
export interface StepReport {
  status: Extract<StepStatus, "succeeded" | "failed" | "cancelled">;
  outputs?: Record<string, unknown>;
  error?: StepRow["error"];
}

export type Advance = ReturnType<typeof createAdvance>;

export function createAdvance(deps: AdvanceDeps) {
  const { store, clock } = deps;
  const open = (tx: WriteTx, runId: string, steps = store.stepsOf(runId)): RunRecord => {
    const row = store.run(runId);
    if (!row) throw new Error(`There is no run ${runId}.`);
    return openRunRecord(tx, row, steps, { store, now: clock.now(), project: deps.projectOf(row) });
  };

  /** Queues an attempt of a step: its row together with the execution that does the work. */
  function queue(tx: WriteTx, record: RunRecord, decision: QueueStep): void {
    const { row: run, definition } = record;
    const step = record.definedAs(decision.step_id);
    const agent = agentOf(step) ?? NO_AGENT;
    const { model, timeout_seconds } = settingsOf(definition, step, run);
    const before = record.step(decision);
    // A retry continues in the session of the previous attempt.
    const previous = decision.retry ? record.step({ ...decision, attempt: decision.attempt - 1 }).session_id : null;
    const kind = isCommand(step) ? "command" : "pipeline";
    const { id: execution_id, session_id } = deps.execute(previous ?? sessionOf(run, step.id, agent, kind), {
      ...workOf(step, decision.inputs),
      step_row_id: before.id,
      model,
      timeout_seconds: timeout_seconds ?? deps.agentTimeout(agent),
    });
    const { attempt, max_attempts } = before;
    if (decision.retry) tx.emit(stepRetrying, { ...record.toRefs(before), data: { attempt, max_attempts } });
    record.decide(decision, { session_id, execution_id });
  }
  function carryOut(tx: WriteTx, record: RunRecord, decision: Decision): void {
    switch (decision.kind) {
      case "queue_step":
        return queue(tx, record, decision);
      case "ask_approval":
        record.decide(decision, { deadline: decision.deadline });
        return;
      case "skip_step":
        record.decide(decision, { data: { ...record.step(decision).data, reason: decision.reason } });
        return;
      case "cancel_step": {
        const { session_id } = record.step(decision);
        record.decide(decision);
        // The step's row says cancelled already, so the execution's report of its end changes nothing.
        if (session_id) deps.endSession(session_id);
        return;
      }
      default:
        record.decide(decision);
    }
  }
  const carryAll = (tx: WriteTx, record: RunRecord, decisions: readonly Decision[]): void => {
    for (const decision of decisions) carryOut(tx, record, decision);
  };
  const attemptsIn = (definition: PipelineDefinition): Map<string, number> =>
    new Map(
      agentsOf(definition).flatMap((id) => {
        const attempts = deps.agentAttempts(id);
        return attempts === undefined ? [] : [[id, attempts] as const];
      }),
    );
  const goOn = (tx: WriteTx, record: RunRecord): void => {
    const { state, definition } = record;
    const options = { agentAttempts: attemptsIn(definition) };
    carryAll(tx, record, plan(definition, state.run, state.rows, clock.now(), options));
  };

  return {
    /** Plans and carries out decisions until nothing more can be done now. */
    run: (tx: WriteTx, runId: string): void => goOn(tx, open(tx, runId)),
    cancel(tx: WriteTx, runId: string): void {
      const record = open(tx, runId);
      carryAll(tx, record, planStop(record.definition, record.state.run, record.state.rows));
    },
    restart(tx: WriteTx, runId: string, fromStep: string | undefined): void {
      const record = open(tx, runId);
      carryAll(tx, record, planRestart(record.definition, record.state.run, record.state.rows, fromStep));
      goOn(tx, record);
    },
    /** Starts every step again. */
    again(tx: WriteTx, runId: string): void {
      const record = open(tx, runId);
      carryAll(tx, record, planAgain(record.definition, record.state.run, record.state.rows));
      goOn(tx, record);
    },
    /** A person's answer to a step that is `waiting`. */
    answer(tx: WriteTx, step: StepRow, answer: { approved: boolean; comment: string }): void {
      const record = open(tx, step.run_id);
      carryOut(tx, record, answerApproval(keyOf(step), answer));
      goOn(tx, record);
    },
    /** An agent has started on a queued step. */
    began: (tx: WriteTx, step: StepRow): void => open(tx, step.run_id, [step]).report(keyOf(step), "running", {}),
    /** An agent's work on a queued or running step has ended. */
    endStep(
      tx: WriteTx,
      step: StepRow,
      { status, ...change }: StepReport,
      extras: Pick<StepExtras, "text" | "model">,
    ): void {
      const record = open(tx, step.run_id);
      if (step.status === "queued" && status === "succeeded") record.report(keyOf(step), "running", {});
      record.report(keyOf(step), status, change, extras);
      goOn(tx, record);
    },
  };
}

/** The question for the agent, or the command to run. */
function workOf(
  step: PipelineStep,
  inputs: QueueStep["inputs"],
): Pick<TurnDraft, "input" | "command" | "contract" | "skills"> {
  if (isCommand(step)) return { input: [], command: inputs as unknown as CommandLine };
  if (isApproval(step)) throw new Error(`step ${step.id} is a person's`);
  const contract = { outputs: step.outputs ?? [], schema: step.output_schema ?? null };
  return { input: String(inputs["input"] ?? ""), contract, skills: step.skills ?? [] };
}

const sessionOf = (
  run: RunRow,
  step_id: string,
  agent_id: string,
  kind: "pipeline" | "command" = "pipeline",
): SessionDraft => ({
  kind,
  agent_id,
  run_id: run.id,
  step_id,
  project_id: run.project_id ?? undefined,
  task_id: run.task_id ?? undefined,
  user_id: run.created_by ?? undefined,
});

const keyOf = ({ step_id, item_index, attempt }: StepRow): StepKey => ({ step_id, index: item_index, attempt });
