/** The planner's decisions as plain data. The owner of the rows carries out a list of them in one transaction. */
import type { RunError, StepError } from "./rows.ts";

export interface StepKey {
  step_id: string;
  index: number | null;
  attempt: number;
}

export type Decision =
  /** `queued` is a restart: the run's error, outputs and end are cleared. */
  | { kind: "move_run"; to: "queued" | "running" | "waiting" }
  /** Creates a row, `pending`. */
  | ({ kind: "add_step"; visit: number; max_attempts: number } & StepKey)
  /** pending → queued: an agent may start. `retry`: the attempt follows a failed attempt of the same visit. */
  | ({ kind: "queue_step"; inputs: Record<string, unknown>; retry: boolean } & StepKey)
  /** pending → running, for the parent step of a `for_each`; no agent works on it. */
  | ({ kind: "open_step"; inputs: { items: unknown[] } } & StepKey)
  /** pending → waiting: a person is asked. `deadline` in ms since the epoch, null for none. */
  | ({ kind: "ask_approval"; inputs: { message: string }; deadline: number | null } & StepKey)
  /** pending → skipped. */
  | ({ kind: "skip_step"; reason: "when" | "route" } & StepKey)
  /** → succeeded | failed, for an approval or for the parent step of a `for_each`. */
  | ({
      kind: "finish_step";
      status: "succeeded" | "failed";
      outputs: Record<string, unknown>;
      error: StepError | null;
    } & StepKey)
  /** → cancelled. If the step is queued or running, its agent must be stopped. */
  | ({ kind: "cancel_step"; reason: "run_failed" | "run_cancelled" | "went_back" | "item_failed" } & StepKey)
  /** A restart drops the attempt: it can still be read but no longer counts. */
  | ({ kind: "supersede_step" } & StepKey)
  | {
      kind: "finish_run";
      status: "succeeded" | "failed" | "cancelled";
      outputs: Record<string, unknown>;
      error: RunError | null;
    };
