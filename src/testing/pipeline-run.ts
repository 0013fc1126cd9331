/** A pipeline run without an engine: the test decides how each step ends, and the planner decides what comes next. */

import type { StepStatus } from "../core/run-states.ts";
import type { Decision } from "../engine/pipeline/decisions.ts";
import type { PipelineDefinition } from "../engine/pipeline/definition.ts";
import { parsePipeline } from "../engine/pipeline/parse.ts";
import { type PlanOptions, plan } from "../engine/pipeline/plan.ts";
import type { RunRow, StepError, StepRow } from "../engine/pipeline/rows.ts";
import { RunState } from "../engine/pipeline/run-state.ts";
import { answerApproval, planRestart, planStop } from "../engine/pipeline/steering.ts";

/** The name of a row: `build`, or `each[2]` for the third item. */
export const nameOf = ({ step_id, index }: Pick<StepRow, "step_id" | "index">): string =>
  index === null ? step_id : `${step_id}[${index}]`;

export class PipelineRun {
  readonly definition: PipelineDefinition;
  readonly #state: RunState;
  /** The current time in ms since the epoch; tests change it. */
  now = Date.parse("2026-01-01T00:00:00.000Z");
  /** All decisions so far. */
  readonly log: Decision[] = [];

  constructor(
    pipeline: string | PipelineDefinition,
    run: Partial<RunRow> = {},
    readonly options: PlanOptions = {},
  ) {
    this.definition = typeof pipeline === "string" ? parse(pipeline) : pipeline;
    const first: RunRow = {
      id: "run_1",
      pipeline_id: this.definition.id,
      status: "queued",
      task_description: "the task",
      human_context: null,
      inputs: {},
      model: null,
      branch: null,
      project: null,
      error: null,
      ...run,
    };
    this.#state = new RunState(first, []);
    this.next();
  }

  get run(): RunRow {
    return this.#state.run;
  }

  /** All rows, oldest first. */
  get rows(): StepRow[] {
    return this.#state.rows;
  }

  /**
   * Plans and carries out the decisions. @returns the decisions. @throws Error if the planner then has more to decide.
   */
  next(): Decision[] {
    const { definition, run, rows, now, options } = this;
    const decisions = plan(definition, run, rows, now, options);
    this.#carryOut(decisions);
    const more = plan(this.definition, this.run, this.rows, this.now, this.options);
    if (more.length > 0) throw new Error(`Planned again, it decided more: ${JSON.stringify(more)}`);
    return decisions;
  }

  /** What agents and people have to do, in the order of creation: `build`, `each[0]`, `ship?` for an approval. */
  get open(): string[] {
    return this.leaves.map((row) => (row.status === "waiting" ? `${nameOf(row)}?` : nameOf(row)));
  }

  /** Rows that something outside of the planner must end. */
  get leaves(): StepRow[] {
    const opened = new Set(this.definition.steps.filter((step) => "for_each" in step).map(({ id }) => id));
    return this.rows.filter(
      ({ status, index, step_id }) =>
        status === "queued" ||
        status === "waiting" ||
        (status === "running" && (index !== null || !opened.has(step_id))),
    );
  }

  /** The last attempt of the step or item. */
  row(name: string): StepRow {
    const row = this.rows.findLast((candidate) => nameOf(candidate) === name);
    if (!row) throw new Error(`There is no ${name}.`);
    return row;
  }

  /** The status of every step's last attempt, as `a:succeeded b:pending`. */
  get statuses(): string {
    return this.definition.steps.map(({ id }) => `${id}:${this.row(id).status}`).join(" ");
  }

  start(name: string): void {
    this.#move(this.row(name), "running", {});
  }

  succeed(name: string, outputs: Record<string, unknown> = {}): this {
    if (this.row(name).status === "queued") this.start(name);
    this.#move(this.row(name), "succeeded", { outputs });
    this.next();
    return this;
  }

  fail(name: string, error: StepError = { code: "agent_failed", message: `${name} failed` }): this {
    if (this.row(name).status === "queued") this.start(name);
    this.#move(this.row(name), "failed", { error });
    this.next();
    return this;
  }

  answer(name: string, approved: boolean, comment = ""): this {
    this.#carryOut([answerApproval(this.row(name), { approved, comment })]);
    this.next();
    return this;
  }

  stop(): void {
    this.#carryOut(planStop(this.definition, this.run, this.rows));
  }

  restart(fromStep?: string): this {
    this.#carryOut(planRestart(this.definition, this.run, this.rows, fromStep));
    this.next();
    return this;
  }

  #carryOut(decisions: Decision[]): void {
    for (const decision of decisions) this.#state.apply(decision, this.now);
    this.log.push(...decisions);
  }

  #move(row: StepRow, to: StepStatus, change: Partial<StepRow>): void {
    this.#state.report(row, to, change, this.now);
  }
}

function parse(text: string): PipelineDefinition {
  const { definition, problems } = parsePipeline(text);
  if (!definition) throw new Error(problems.map(({ line, message }) => `${line}: ${message}`).join("\n"));
  return definition;
}
