/** What the planner decides, as plain data. The owner of the rows carries out a list of them in one transaction. */
import type { RunError, StepError } from "./rows.ts";

export interface StepKey {
  step_id: string;
  index: number | null;
  attempt: number;
}

export type Decision =
  /** `queued` is a restart: error, outputs and end of the run are dropped. */
  | { kind: "move_run"; to: "queued" | "running" | "waiting" }
  /** A new row, `pending`. */
  | ({ kind: "add_step"; visit: number; max_attempts: number } & StepKey)
  /** pending → queued: an agent may take it up. `retry`: it follows a failed attempt of the same visit. */
  | ({ kind: "queue_step"; inputs: Record<string, unknown>; retry: boolean } & StepKey)
  /** pending → running: the step above the children of a `for_each`; no agent takes it up. */
  | ({ kind: "open_step"; inputs: { items: unknown[] } } & StepKey)
  /** pending → waiting: a person is asked. `deadline` in ms since the epoch, null for none. */
  | ({ kind: "ask_approval"; inputs: { message: string }; deadline: number | null } & StepKey)
  /** pending → skipped. */
  | ({ kind: "skip_step"; reason: "when" | "route" } & StepKey)
  /** → succeeded | failed: of an approval, or of the step above the children of a `for_each`. */
  | ({
      kind: "finish_step";
      status: "succeeded" | "failed";
      outputs: Record<string, unknown>;
      error: StepError | null;
    } & StepKey)
  /** → cancelled. A queued or running one has an agent at work that must be stopped. */
  | ({ kind: "cancel_step"; reason: "run_failed" | "run_cancelled" | "went_back" | "item_failed" } & StepKey)
  /** Dropped by a restart: kept for reading, no longer counted. */
  | ({ kind: "supersede_step" } & StepKey)
  | {
      kind: "finish_run";
      status: "succeeded" | "failed" | "cancelled";
      outputs: Record<string, unknown>;
      error: RunError | null;
    };
