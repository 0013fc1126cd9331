/**
 * A run and its step rows, indexed. Decisions and reports are applied to them, as far as the state tables allow. The
 * planner decides on this state, and feature/runs stores the resulting rows. The rows passed in are never changed.
 */
import { toTimestamp } from "../../core/clock.ts";
import { assertMove, isStepEnd, type RunStatus, type StepStatus } from "../../core/run-states.ts";
import type { Decision, StepKey } from "./decisions.ts";
import type { RunRow, StepRow } from "./rows.ts";

type Change = Partial<Omit<StepRow, "step_id" | "index" | "attempt">>;

const keyOf = ({ step_id, index, attempt }: StepKey): string => `${step_id} ${index ?? ""} ${attempt}`;
const partOf = ({ step_id, index }: Omit<StepKey, "attempt">): string => `${step_id} ${index ?? ""}`;

export class RunState {
  readonly #rows = new Map<string, StepRow>();
  /** Keys of rows by step and index, oldest first. */
  readonly #attempts = new Map<string, string[]>();
  /** Indexes of the children that a step has. */
  readonly #indexes = new Map<string, Set<number>>();
  /** Position of a row in the order of creation. */
  readonly #positions = new Map<string, number>();

  /**
   * @param rows oldest first.
   * @param idOf id of a row that a decision adds.
   */
  constructor(
    public run: RunRow,
    rows: readonly StepRow[],
    private readonly idOf: (key: StepKey) => string = keyOf,
  ) {
    for (const row of rows) this.#insert(row);
  }

  /** Every row, oldest first. */
  get rows(): StepRow[] {
    return [...this.#rows.values()];
  }

  /** The last attempt of the step; undefined when a restart has dropped it. */
  latest(stepId: string): StepRow | undefined {
    const row = this.history(stepId).at(-1);
    return row?.superseded ? undefined : row;
  }

  /** All attempts of the step, or of its item at `index`, oldest first. */
  history(stepId: string, index: number | null = null): StepRow[] {
    return (this.#attempts.get(partOf({ step_id: stepId, index })) ?? []).map((key) => this.#rows.get(key)!);
  }

  /** The last attempt of each item in the parent's current visit, by position in the list. */
  children(parent: StepRow): Map<number, StepRow> {
    const children = new Map<number, StepRow>();
    for (const index of this.#indexes.get(parent.step_id) ?? []) {
      const row = this.history(parent.step_id, index).at(-1);
      if (row && !row.superseded && row.visit === parent.visit) children.set(index, row);
    }
    return children;
  }

  /**
   * The attempt that templates and conditions read: the last one that ended, unless it was cancelled to be made again.
   */
  findEnded(stepId: string): StepRow | undefined {
    return this.history(stepId).findLast(
      ({ status, superseded }, position, all) =>
        !superseded && isStepEnd(status) && (status !== "cancelled" || position === all.length - 1),
    );
  }

  /** Position in the order of creation; larger is later. */
  position(row: StepKey): number {
    return this.#positions.get(keyOf(row)) ?? -1;
  }

  /**
   * Carries out a decision. Throws when the state tables do not allow the move, or when the row does not exist.
   * @returns the step's row afterwards; undefined when the decision was about the run.
   */
  apply(decision: Decision, now: number): StepRow | undefined {
    switch (decision.kind) {
      case "move_run":
        return this.#moveRun(decision.to, decision.to === "queued" ? { error: null } : {});
      case "finish_run":
        return this.#moveRun(decision.status, { error: decision.error });
      case "add_step":
        return this.#insert(newRow(this.idOf(decision), decision));
      case "queue_step":
        return this.#move(decision, "queued", { inputs: decision.inputs });
      case "open_step":
        return this.#move(decision, "running", { inputs: decision.inputs, started_at: toTimestamp(now) });
      case "ask_approval":
        return this.#move(decision, "waiting", { inputs: decision.inputs, started_at: toTimestamp(now) });
      case "skip_step":
        return this.#move(decision, "skipped", {});
      case "finish_step":
        return this.#move(decision, decision.status, { outputs: decision.outputs, error: decision.error });
      case "cancel_step":
        return this.#move(decision, "cancelled", {
          error: { code: decision.reason, message: this.#explainStop(decision) },
        });
      case "supersede_step":
        return this.#change(decision, { superseded: true });
    }
  }

  /** Records what the agent at work did to a step. Throws as `apply` does. @returns the row afterwards. */
  report(key: StepKey, to: StepStatus, change: Pick<Change, "outputs" | "error">, now: number): StepRow {
    return this.#move(key, to, { ...change, ...(to === "running" ? { started_at: toTimestamp(now) } : {}) });
  }

  #explainStop(key: StepKey): string {
    return this.#row(key).started_at === null ? "It did not begin." : "It was stopped.";
  }

  #insert(row: StepRow): StepRow {
    const key = keyOf(row);
    if (this.#rows.has(key)) throw new Error(`There are two rows of ${key}.`);
    this.#positions.set(key, this.#rows.size);
    this.#rows.set(key, row);
    const part = partOf(row);
    const keys = this.#attempts.get(part);
    if (keys) keys.push(key);
    else this.#attempts.set(part, [key]);
    if (row.index === null) return row;
    const indexes = this.#indexes.get(row.step_id);
    if (indexes) indexes.add(row.index);
    else this.#indexes.set(row.step_id, new Set([row.index]));
    return row;
  }

  #moveRun(to: RunStatus, change: Partial<RunRow>): undefined {
    assertMove("run", this.run.status, to);
    this.run = { ...this.run, ...change, status: to };
  }

  #move(key: StepKey, to: StepStatus, change: Change): StepRow {
    assertMove("step", this.#row(key).status, to);
    return this.#change(key, { ...change, status: to });
  }

  #change(key: StepKey, change: Change): StepRow {
    const row = { ...this.#row(key), ...change };
    this.#rows.set(keyOf(key), row);
    return row;
  }

  #row(key: StepKey): StepRow {
    const row = this.#rows.get(keyOf(key));
    if (!row) throw new Error(`There is no row of ${keyOf(key)}.`);
    return row;
  }
}

type AddStep = Extract<Decision, { kind: "add_step" }>;

function newRow(id: string, { step_id, index, attempt, visit, max_attempts }: AddStep): StepRow {
  return {
    id,
    step_id,
    index,
    attempt,
    max_attempts,
    visit,
    status: "pending",
    inputs: {},
    outputs: {},
    error: null,
    started_at: null,
    superseded: false,
  };
}
