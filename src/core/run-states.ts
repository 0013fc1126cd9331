/** The allowed transitions of runs and steps, defined only here. Code that changes a status calls `assertMove`. */
import { isOneOf } from "./typed-keys.ts";

export const RUN_STATUSES = ["queued", "running", "waiting", "succeeded", "failed", "cancelled"] as const;
/** How work ends: the same for runs, executions and jobs. */
export const ENDS = ["succeeded", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const isRunStatus = (word: string): word is RunStatus => isOneOf(RUN_STATUSES, word);

export const STEP_STATUSES = [
  "pending",
  "queued",
  "running",
  "waiting",
  "succeeded",
  "failed",
  "skipped",
  "cancelled",
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/**
 * A queued run may fail (its pipeline is gone) or be cancelled before anything ran. A `waiting` run waits only for
 * people. An ended run changes only by a restart.
 */
export const RUN_MOVES: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  queued: ["running", "failed", "cancelled"],
  running: ["waiting", "succeeded", "failed", "cancelled"],
  waiting: ["running", "succeeded", "failed", "cancelled"],
  succeeded: ["queued"],
  failed: ["queued"],
  cancelled: ["queued"],
};

/**
 * `pending → running` is the parent step of a `for_each`, `pending → waiting` an approval: no agent works on these. A
 * queued step may fail without having run (its agent is gone). A running step that another process continues after a
 * crash stays `running`. An end is final: another attempt is another row.
 */
export const STEP_MOVES: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  pending: ["queued", "running", "waiting", "skipped", "cancelled"],
  queued: ["running", "failed", "cancelled"],
  running: ["waiting", "succeeded", "failed", "cancelled"],
  waiting: ["running", "succeeded", "failed", "cancelled"],
  succeeded: [],
  failed: [],
  skipped: [],
  cancelled: [],
};

const TABLES = { run: RUN_MOVES, step: STEP_MOVES } as const;

/** Whether the table allows the move. */
export function canMove(kind: "run", from: RunStatus, to: RunStatus): boolean;
export function canMove(kind: "step", from: StepStatus, to: StepStatus): boolean;
export function canMove(kind: "run" | "step", from: string, to: string): boolean {
  const table: Readonly<Record<string, readonly string[]>> = TABLES[kind];
  return Object.hasOwn(table, from) && (table[from]?.includes(to) ?? false);
}

/** Throws on any transition that the table does not allow: that is a broken invariant, not a caller's mistake. */
export function assertMove(kind: "run", from: RunStatus, to: RunStatus): void;
export function assertMove(kind: "step", from: StepStatus, to: StepStatus): void;
export function assertMove(kind: "run" | "step", from: string, to: string): void {
  const known =
    kind === "run"
      ? isRunStatus(from) && isRunStatus(to) && canMove(kind, from, to)
      : isOneOf(STEP_STATUSES, from) && isOneOf(STEP_STATUSES, to) && canMove(kind, from, to);
  if (!known) throw new Error(`A ${kind} never moves from ${from} to ${to}.`);
}

export const isRunEnd = (status: RunStatus): boolean => isOneOf(ENDS, status);

export const isStepEnd = (status: StepStatus): boolean => STEP_MOVES[status].length === 0;

/** Whether the engine is working on the step, or a person is asked about it. */
export const isStepActive = (status: StepStatus): boolean =>
  status === "queued" || status === "running" || status === "waiting";
