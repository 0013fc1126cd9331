/**
 * A run and its step rows, indexed, with decisions carried out on them by the state tables. The planner works on it, and
 * it is the reference for whoever carries out decisions on stored rows. The rows given are never changed.
 */
import { timestamp } from "../../core/clock.ts";
import type { Decision, StepKey } from "./decisions.ts";
import type { RunRow, StepRow } from "./rows.ts";
import { assertMove, isStepEnd, type RunStatus, type StepStatus } from "./states.ts";

type Change = Partial<Omit<StepRow, "step_id" | "index" | "attempt">>;

const keyOf = ({ step_id, index, attempt }: StepKey): string => `${step_id} ${index ?? ""} ${attempt}`;
const partOf = ({ step_id, index }: Omit<StepKey, "attempt">): string => `${step_id} ${index ?? ""}`;

export class RunState {
  run: RunRow;
  readonly #rows = new Map<string, StepRow>();
  /** Keys of rows by step and index, oldest first. */
  readonly #attempts = new Map<string, string[]>();
  /** Indexes that a step has children for. */
  readonly #indexes = new Map<string, Set<number>>();
  /** Position of a row in the order of making. */
  readonly #positions = new Map<string, number>();

  /** @param rows oldest first. */
  constructor(run: RunRow, rows: readonly StepRow[]) {
    this.run = run;
    for (const row of rows) this.#insert(row);
  }

  /** Every row, oldest first. */
  get rows(): StepRow[] {
    return [...this.#rows.values()];
  }

  /** The last attempt of the step itself, unless a restart dropped it. */
  latest(stepId: string): StepRow | undefined {
    const row = this.history(stepId).at(-1);
    return row?.superseded ? undefined : row;
  }

  /** Every attempt of the step itself, oldest first. */
  history(stepId: string, index: number | null = null): StepRow[] {
    return (this.#attempts.get(partOf({ step_id: stepId, index })) ?? []).map((key) => this.#rows.get(key) as StepRow);
  }

  /** The last attempt of each item in that visit, by position in the list. */
  children(parent: StepRow): Map<number, StepRow> {
    const children = new Map<number, StepRow>();
    for (const index of this.#indexes.get(parent.step_id) ?? []) {
      const row = this.history(parent.step_id, index).at(-1);
      if (row && !row.superseded && row.visit === parent.visit) children.set(index, row);
    }
    return children;
  }

  /** What templates and conditions see: the last attempt that ended, unless it was cancelled to be made again. */
  shown(stepId: string): StepRow | undefined {
    return this.history(stepId).findLast(
      ({ status, superseded }, position, all) =>
        !superseded && isStepEnd(status) && (status !== "cancelled" || position === all.length - 1),
    );
  }

  /** Larger is later. */
  position(row: StepKey): number {
    return this.#positions.get(keyOf(row)) ?? -1;
  }

  /** Carries out a decision; throws when a state table does not know the move or the row is not there. */
  apply(decision: Decision, now: number): void {
    switch (decision.kind) {
      case "move_run":
        this.#moveRun(decision.to, decision.to === "queued" ? { error: null } : {});
        break;
      case "finish_run":
        this.#moveRun(decision.status, { error: decision.error });
        break;
      case "add_step":
        this.#insert(newRow(decision));
        break;
      case "queue_step":
        this.#move(decision, "queued", { inputs: decision.inputs });
        break;
      case "open_step":
        this.#move(decision, "running", { inputs: decision.inputs, started_at: timestamp(now) });
        break;
      case "ask_approval":
        this.#move(decision, "waiting", { inputs: decision.inputs, started_at: timestamp(now) });
        break;
      case "skip_step":
        this.#move(decision, "skipped", {});
        break;
      case "finish_step":
        this.#move(decision, decision.status, { outputs: decision.outputs, error: decision.error });
        break;
      case "cancel_step":
        this.#move(decision, "cancelled", {});
        break;
      case "supersede_step":
        this.#change(decision, { superseded: true });
        break;
    }
  }

  #insert(row: StepRow): void {
    const key = keyOf(row);
    if (this.#rows.has(key)) throw new Error(`There are two rows of ${key}.`);
    this.#positions.set(key, this.#rows.size);
    this.#rows.set(key, row);
    const part = partOf(row);
    const keys = this.#attempts.get(part);
    if (keys) keys.push(key);
    else this.#attempts.set(part, [key]);
    if (row.index === null) return;
    const indexes = this.#indexes.get(row.step_id);
    if (indexes) indexes.add(row.index);
    else this.#indexes.set(row.step_id, new Set([row.index]));
  }

  #moveRun(to: RunStatus, change: Partial<RunRow>): void {
    assertMove("run", this.run.status, to);
    this.run = { ...this.run, ...change, status: to };
  }

  #move(key: StepKey, to: StepStatus, change: Change): void {
    assertMove("step", this.#row(key).status, to);
    this.#change(key, { ...change, status: to });
  }

  #change(key: StepKey, change: Change): void {
    this.#rows.set(keyOf(key), { ...this.#row(key), ...change });
  }

  #row(key: StepKey): StepRow {
    const row = this.#rows.get(keyOf(key));
    if (!row) throw new Error(`There is no row of ${keyOf(key)}.`);
    return row;
  }
}

function newRow({ step_id, index, attempt, visit, max_attempts }: Extract<Decision, { kind: "add_step" }>): StepRow {
  return {
    id: keyOf({ step_id, index, attempt }),
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

/** The run and rows after the decisions. `now` in ms since the epoch. */
export function applyDecisions(
  run: RunRow,
  rows: readonly StepRow[],
  decisions: readonly Decision[],
  now: number,
): { run: RunRow; rows: StepRow[] } {
  const state = new RunState(run, rows);
  for (const decision of decisions) state.apply(decision, now);
  return { run: state.run, rows: state.rows };
}
