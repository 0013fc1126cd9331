/**
 * Decides what happens next in a run: a pure function of the definition, the rows and the time. The same rows give the
 * same decisions. Once they are carried out, it decides nothing more until something outside moves a row. It terminates
 * for every outcome of the steps: `max_attempts` bounds retries, `max_visits` bounds going back.
 *
 * Concurrency: when the run fails, or goes back over a step that is still at work on another branch, that step is
 * cancelled at once, because its result could no longer be used. Branches that do not depend on the target continue.
 */

import { isRunEnd, isStepActive, isStepEnd } from "../../core/run-states.ts";
import { holds, parseCondition } from "./condition.ts";
import type { Decision, StepKey } from "./decisions.ts";
import {
  agentOf,
  DEFAULT_MAX_PARALLEL,
  type ForEachStep,
  isApproval,
  isCommand,
  isForEach,
  type PipelineDefinition,
  type PipelineStep,
} from "./definition.ts";
import { itemsOf, joinOutputs } from "./for-each.ts";
import { type PipelineGraph, pipelineGraph } from "./graph.ts";
import { isRoutedPast, mayRetry, type Outcome, outcomeOf } from "./outcome.ts";
import type { RunError, RunRow, StepRow } from "./rows.ts";
import { RunState } from "./run-state.ts";
import { outputsOf, renderInputs, scopeOf, settingsOf } from "./scope.ts";

export interface PlanOptions {
  /** `max_attempts` of agents by id, for steps where the pipeline sets none. */
  agentAttempts?: ReadonlyMap<string, number>;
}

/**
 * The next decisions, in the order in which they must be carried out. Empty for a run that has ended.
 * @param rows oldest first.
 * @param now ms since the epoch.
 */
export function plan(
  definition: PipelineDefinition,
  run: RunRow,
  rows: readonly StepRow[],
  now: number,
  options: PlanOptions = {},
): Decision[] {
  if (isRunEnd(run.status)) return [];
  const planner = new Planner(definition, new RunState(run, rows), now, options);
  if (run.status === "queued") planner.decide({ kind: "move_run", to: "running" });
  while (planner.round());
  planner.settleRun();
  return planner.decisions;
}

function deadlineOf(step: PipelineStep, row: StepRow | undefined): number | null {
  if (!isApproval(step) || row?.status !== "waiting" || row.started_at === null) return null;
  const seconds = step.approval.timeout_seconds;
  return seconds === undefined ? null : Date.parse(row.started_at) + seconds * 1_000;
}

const keyOf = ({ step_id, index, attempt }: StepKey): StepKey => ({ step_id, index, attempt });

class Planner {
  readonly decisions: Decision[] = [];
  readonly #graph: PipelineGraph;
  /** Steps sorted so that each comes after the steps it waits for; rows are created in this order. */
  readonly #ordered: readonly PipelineStep[];

  constructor(
    readonly definition: PipelineDefinition,
    readonly state: RunState,
    readonly now: number,
    readonly options: PlanOptions,
  ) {
    const graph = pipelineGraph(definition);
    this.#graph = graph;
    this.#ordered = [...definition.steps].sort((a, b) => graph.upstream(a.id).size - graph.upstream(b.id).size);
  }

  decide(decision: Decision): void {
    this.state.apply(decision, this.now);
    this.decisions.push(decision);
  }

  /** Makes one pass over all steps. @returns whether another pass may decide more. */
  round(): boolean {
    const before = this.decisions.length;
    for (const step of this.#ordered) if (!this.state.latest(step.id)) this.#addRow(step, 1);
    for (const step of this.#graph.steps) this.#tend(step);
    const outcomes = new Map(this.#graph.steps.map((step) => [step, outcomeOf(step, this.state, this.#graph)]));
    for (const outcome of outcomes.values()) if (outcome.kind === "fail") return this.#failRun(outcome.error);
    for (const outcome of outcomes.values()) if (outcome.kind === "back") return this.#goBack(outcome.to);
    for (const [step, outcome] of outcomes) if (outcome.kind === "retry") this.#retry(step);
    const isSettled = (id: string) => outcomeOf(this.#graph.step(id)!, this.state, this.#graph).kind === "settled";
    for (const step of this.#ordered) {
      const row = this.state.latest(step.id);
      if (row?.status === "pending" && [...this.#graph.needs(step.id)].every(isSettled)) this.#begin(step, row);
    }
    if ([...outcomes.values()].every(({ kind }: Outcome) => kind === "settled")) return this.#finishRun(null);
    return this.decisions.length > before;
  }

  /**
   * Moves the run to `waiting` when it only waits for people, else to `running`. Fails it when no step is at work and
   * none can begin.
   */
  settleRun(): void {
    const { state } = this;
    if (isRunEnd(state.run.status)) return;
    const atWork = state.rows.filter((row) => !row.superseded && isStepActive(row.status) && !this.#isParent(row));
    if (atWork.length === 0)
      this.#finishRun({ code: "pipeline_stuck", message: "No step is at work and none can begin." });
    else {
      const to = atWork.every(({ status }) => status === "waiting") ? "waiting" : "running";
      if (state.run.status !== to) this.decide({ kind: "move_run", to });
    }
  }

  #isParent(row: StepRow): boolean {
    const step = this.#graph.step(row.step_id);
    return row.index === null && step !== undefined && isForEach(step);
  }

  /** Advances steps that no agent works on: the items of a `for_each`, and approvals whose time is over. */
  #tend(step: PipelineStep): void {
    const row = this.state.latest(step.id);
    if (!row) return;
    if (isForEach(step) && row.status === "running") this.#tendItems(step, row);
    const deadline = deadlineOf(step, row);
    if (!isApproval(step) || deadline === null || deadline > this.now) return;
    const approved = step.approval.on_timeout === "approve";
    const message = `Nobody answered within ${step.approval.timeout_seconds} s.`;
    this.decide({
      kind: "finish_step",
      ...keyOf(row),
      status: approved ? "succeeded" : "failed",
      outputs: { approved, comment: "", timed_out: true },
      error: approved ? null : { code: "approval_timeout", message },
    });
  }

  #tendItems(step: ForEachStep, parent: StepRow): void {
    const given = parent.inputs["items"];
    const items: unknown[] = Array.isArray(given) ? given : [];
    let children = this.state.children(parent);
    for (const child of children.values()) {
      if (child.status !== "failed" && child.status !== "cancelled") continue;
      if (mayRetry(step, child)) this.#startItem(step, parent, items, child.index ?? 0, child);
      else if (step.on_failure !== "continue" || child.error?.final) {
        this.#failItems(parent, child, children);
        return;
      }
    }
    children = this.state.children(parent);
    const active = [...children.values()].filter(({ status }) => !isStepEnd(status)).length;
    const free = (step.max_parallel ?? DEFAULT_MAX_PARALLEL) - active;
    const waiting = [...items.keys()].filter((index) => !children.has(index));
    for (const index of waiting.slice(0, Math.max(0, free))) this.#startItem(step, parent, items, index, null);
    if (active > 0 || waiting.length > 0 || [...children.values()].some(({ status }) => status === "queued")) return;
    const outputs = joinOutputs(step, items, children);
    this.decide({ kind: "finish_step", ...keyOf(parent), status: "succeeded", outputs, error: null });
  }

  #startItem(step: ForEachStep, parent: StepRow, items: unknown[], index: number, failed: StepRow | null): void {
    const attempt = this.state.history(step.id, index).length + 1;
    const key = { step_id: step.id, index, attempt };
    const max_attempts = failed?.max_attempts ?? attempt + this.#attemptsOf(step) - 1;
    this.decide({ kind: "add_step", ...key, visit: parent.visit, max_attempts });
    const inputs = renderInputs(this.definition, step, this.state, { item: items[index], index });
    this.decide({ kind: "queue_step", ...key, inputs, retry: failed !== null });
  }

  #failItems(parent: StepRow, child: StepRow, children: ReadonlyMap<number, StepRow>): void {
    for (const other of children.values())
      if (!isStepEnd(other.status)) this.decide({ kind: "cancel_step", ...keyOf(other), reason: "item_failed" });
    const { code, message, final } = child.error ?? { code: "step_cancelled", message: "It was stopped." };
    const error = { code, message: `Item ${(child.index ?? 0) + 1}: ${message}`, ...(final ? { final } : {}) };
    this.decide({ kind: "finish_step", ...keyOf(parent), status: "failed", outputs: {}, error });
  }

  #attemptsOf(step: PipelineStep): number {
    const agent = isCommand(step) ? null : agentOf(step);
    const agentAttempts = agent === null ? undefined : this.options.agentAttempts?.get(agent);
    return settingsOf(this.definition, step, this.state.run, agentAttempts).max_attempts;
  }

  #addRow(step: PipelineStep, visit: number): void {
    const attempt = this.state.history(step.id).length + 1;
    const max_attempts = attempt + this.#attemptsOf(step) - 1;
    this.decide({ kind: "add_step", step_id: step.id, index: null, attempt, visit, max_attempts });
  }

  #retry(step: PipelineStep): void {
    const { visit, attempt: failed, max_attempts } = this.state.latest(step.id)!;
    const key = { step_id: step.id, index: null, attempt: failed + 1 };
    this.decide({ kind: "add_step", ...key, visit, max_attempts });
    const inputs = renderInputs(this.definition, step, this.state);
    this.decide({ kind: "queue_step", ...key, inputs, retry: true });
  }

  /** Begins a pending step whose turn has come. */
  #begin(step: PipelineStep, row: StepRow): void {
    const skipped = this.#skipReason(step);
    if (skipped) this.decide({ kind: "skip_step", ...keyOf(row), reason: skipped });
    else if (isForEach(step)) this.#open(step, keyOf(row));
    else this.decide(this.#handOver(step, keyOf(row)));
  }

  #skipReason(step: PipelineStep): "route" | "when" | null {
    if (isRoutedPast(step.id, this.state, this.#graph)) return "route";
    if (step.when === undefined || holds(parseCondition(step.when), scopeOf(this.definition, this.state))) return null;
    return "when";
  }

  /** Hands the step to an agent, to the shell or to a person. */
  #handOver(step: PipelineStep, key: StepKey): Decision {
    const inputs = renderInputs(this.definition, step, this.state);
    if (!isApproval(step)) return { kind: "queue_step", ...key, inputs, retry: false };
    const seconds = step.approval.timeout_seconds;
    const deadline = seconds === undefined ? null : this.now + seconds * 1_000;
    return { kind: "ask_approval", ...key, inputs: { message: String(inputs["message"]) }, deadline };
  }

  #open(step: ForEachStep, key: StepKey): void {
    const { items, error } = itemsOf(step, scopeOf(this.definition, this.state));
    this.decide({ kind: "open_step", ...key, inputs: { items: items ?? [] } });
    if (error) this.decide({ kind: "finish_step", ...key, status: "failed", outputs: {}, error });
  }

  /** Adds new attempts of the target and of all steps that depend on it. What is still at work there is cancelled. */
  #goBack(to: string): boolean {
    const again = this.#ordered.filter(({ id }) => id === to || this.#graph.downstream(to).has(id));
    for (const step of again) {
      const row = this.state.latest(step.id)!;
      if (row.status === "pending") continue;
      this.#cancel(row, "went_back");
      this.#addRow(step, row.visit + 1);
    }
    return true;
  }

  #cancel(row: StepRow, reason: "went_back" | "run_failed"): void {
    for (const child of this.state.children(row).values())
      if (!isStepEnd(child.status)) this.decide({ kind: "cancel_step", ...keyOf(child), reason });
    if (!isStepEnd(row.status)) this.decide({ kind: "cancel_step", ...keyOf(row), reason });
  }

  #failRun(error: RunError): false {
    for (const { id } of this.#graph.steps) {
      const row = this.state.latest(id);
      if (row) this.#cancel(row, "run_failed");
    }
    return this.#finishRun(error);
  }

  #finishRun(error: RunError | null): false {
    const outputs = outputsOf(this.#graph, this.state);
    this.decide({ kind: "finish_run", status: error ? "failed" : "succeeded", outputs, error });
    return false;
  }
}
