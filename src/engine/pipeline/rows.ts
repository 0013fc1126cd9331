/** The rows of runs and steps, as far as the planner reads them. The stored rows may hold more. */
import type { RunStatus, StepStatus } from "../../core/run-states.ts";

export interface StepError {
  /** Stable word, snake_case. */
  code: string;
  message: string;
  /** True: no retry, no `continue`, no `goto`: the run fails (a budget that is used up). */
  final?: boolean;
}

/** One attempt of one step; of one item when `index` is a number. */
export interface StepRow {
  id: string;
  /** Name in the pipeline. */
  step_id: string;
  /** Position in the list of a `for_each`; null for the step itself. */
  index: number | null;
  /** Counts from 1 over all attempts of the same step (and index), visits and restarts included. */
  attempt: number;
  /** The last attempt that a retry may make in this visit: "attempt 3 of 4". */
  max_attempts: number;
  /** Counts from 1; one more each time the run goes back over the step. Begins again when a restart drops the step. */
  visit: number;
  status: StepStatus;
  /** `{ input }` as rendered, a command `{ command, working_directory?, env? }`; children have `{ input, item, index }`, the step above them `{ items }`, an approval `{ message }`. */
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
  error: StepError | null;
  /** RFC 3339; null before the step ran or asked. */
  started_at: string | null;
  /** True once a restart has dropped it: kept for reading, its outputs and visits no longer count. */
  superseded: boolean;
}

export interface RunError {
  code: string;
  message: string;
  step_id?: string;
}

export interface RunProject {
  id: string;
  name: string;
  description?: string | null;
  repository?: string | null;
  default_branch?: string | null;
  vision?: string | null;
  /** Command that says whether its code works. */
  check?: string | null;
}

export interface RunRow {
  id: string;
  pipeline_id: string;
  status: RunStatus;
  task_description: string;
  human_context: string | null;
  /** By the pipeline's `inputs`, defaults filled in. */
  inputs: Record<string, string>;
  /** Model asked for with the run; before every other. */
  model: string | null;
  branch: string | null;
  project: RunProject | null;
  error: RunError | null;
}
