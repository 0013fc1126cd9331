/** The rows of runs and steps as the planner reads them. The stored rows may hold more fields. */
import type { RunStatus, StepStatus } from "../../core/run-states.ts";

export interface StepError {
  /** Stable word, snake_case. */
  code: string;
  message: string;
  /** True: the run fails without a retry, `continue` or `goto`, as when a budget is used up. */
  final?: boolean;
}

/** One attempt of one step, or of one item of a `for_each` when `index` is a number. */
export interface StepRow {
  id: string;
  /** Id of the step in the pipeline. */
  step_id: string;
  /** Position in the list of a `for_each`; null for the step itself. */
  index: number | null;
  /** Counts from 1 over all attempts of the same step (and index), across visits and restarts. */
  attempt: number;
  /** The last attempt that a retry may make in this visit: "attempt 3 of 4". */
  max_attempts: number;
  /** Counts from 1, and up each time the run goes back over the step. Starts again when a restart drops the step. */
  visit: number;
  status: StepStatus;
  /**
   * Rendered inputs: `{ input }` for an agent, `{ command, working_directory?, env? }` for a command, `{ message }` for
   * an approval. A `for_each` has `{ items }`, and its children have `{ input, item, index }`.
   */
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
  error: StepError | null;
  /** RFC 3339; null before the step ran or asked. */
  started_at: string | null;
  /** True once a restart has dropped the attempt: it can be read, but its outputs and visits no longer count. */
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
  /** Command that tells whether the project's code works. */
  check?: string | null;
}

export interface RunRow {
  id: string;
  pipeline_id: string;
  status: RunStatus;
  task_description: string;
  human_context: string | null;
  /** Values of the pipeline's `inputs`, with defaults filled in. */
  inputs: Record<string, string>;
  /** Model requested with the run; it takes precedence over all others. */
  model: string | null;
  branch: string | null;
  project: RunProject | null;
  error: RunError | null;
}
