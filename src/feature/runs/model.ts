/** Runs and steps as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { RUN_STATUSES, STEP_STATUSES } from "../../core/run-states.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { STEP_KINDS } from "../../engine/pipeline/definition.ts";
import { ProviderWait } from "../sessions/model.ts";
import { CallsWithoutPrice } from "../usage/model.ts";

const Text = t.String({ maxLength: LIMITS.textCharacters });

export const RunStatus = oneOf(...RUN_STATUSES);
export const StepStatus = oneOf(...STEP_STATUSES);
const Outputs = t.Record(t.String(), t.Unknown());
const StepError = t.Object({ code: t.String(), message: t.String() });

export const Run = t.Object({
  id: t.String(),
  pipeline_id: t.String(),
  task_description: t.String(),
  human_context: orNull(t.String()),
  project_name: orNull(t.String()),
  project_id: orNull(t.String()),
  task_id: orNull(t.String()),
  status: RunStatus,
  outputs: Outputs,
  error: orNull(t.Object({ code: t.String(), message: t.String(), step_id: t.Optional(t.String()) })),
  model: orNull(t.String()),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  budget_usd: orNull(
    t.Number({
      description: "Most that the run may cost in USD, as set for the run or its pipeline; null applies the settings.",
    }),
  ),
  branch: orNull(t.String()),
  base_commit: orNull(t.String({ description: "Commit from which the run's branch starts." })),
  workspace_notice: orNull(
    t.String({ description: "Why the project could not be brought up to date before the run." }),
  ),
  outside: orNull(
    t.String({
      description:
        "Why the notes, skills and tasks that the run leaves need a person's confirmation; null if it read no outside text.",
    }),
  ),
  merged_commit: orNull(t.String({ description: "Commit of the branch into which the run's work was merged." })),
  merged_into: orNull(t.String()),
  created_by: orNull(t.String()),
  created_at: Time,
  started_at: orNull(Time),
  finished_at: orNull(Time),
  restarted_from: orNull(t.String({ description: "Step from which the last restart continued." })),
  steps_done: t.Integer(),
  steps_total: t.Integer(),
  current_step: orNull(t.String({ description: "Step that is running, waits, or failed." })),
  current_step_name: orNull(t.String({ description: "Name of that step in the run's own copy of the pipeline." })),
  waiting_reason: orNull(
    t.String({
      description:
        "What the run waits for: the question to a person, or the part of the machine that does not respond.",
    }),
  ),
});
export type Run = Static<typeof Run>;

/** A single run. Lists leave out its long fields. */
export const RunDetail = t.Composite(
  [
    Run,
    t.Object({
      inputs: t.Record(t.String(), t.String(), {
        description: "Values of the pipeline's inputs, with defaults filled in.",
      }),
      provider_wait: orNull(ProviderWait),
    }),
  ],
  { title: "RunDetail" },
);
export type RunDetail = Static<typeof RunDetail>;

const BudgetUsd = t.Number({
  exclusiveMinimum: 0,
  maximum: 100_000,
  description:
    "Most that the run may cost in USD. Only an administrator may set more than the pipeline and the settings allow.",
});

export const RunCreate = t.Object({
  pipeline_id: t.String({ maxLength: 64 }),
  task_description: t.String({ minLength: 1, maxLength: LIMITS.textCharacters }),
  human_context: t.Optional(orNull(Text)),
  project_name: t.Optional(orNull(t.String({ maxLength: LIMITS.nameCharacters }))),
  inputs: t.Optional(t.Record(t.String(), Text)),
  model: t.Optional(t.String({ maxLength: LIMITS.nameCharacters })),
  task_id: t.Optional(t.String({ maxLength: LIMITS.nameCharacters })),
  budget_usd: t.Optional(BudgetUsd),
});
export type RunCreate = Static<typeof RunCreate>;

export const RunRestart = t.Object({
  from_step: t.Optional(t.String({ maxLength: 64 })),
  human_context: t.Optional(Text),
  budget_usd: t.Optional(BudgetUsd),
});
export type RunRestart = Static<typeof RunRestart>;

export const Approval = t.Object({
  step_id: t.String({ maxLength: 64 }),
  approved: t.Boolean(),
  comment: t.Optional(Text),
});
export type Approval = Static<typeof Approval>;

export const Step = t.Object({
  id: t.String(),
  run_id: t.String(),
  step_id: t.String({ description: "Name of the step in the pipeline." }),
  kind: oneOf(...STEP_KINDS),
  index: orNull(t.Integer()),
  agent_id: orNull(t.String()),
  status: StepStatus,
  attempt: t.Integer(),
  max_attempts: t.Integer(),
  inputs: Outputs,
  outputs: Outputs,
  error: orNull(StepError),
  model: orNull(t.String()),
  session_id: orNull(t.String({ description: "Session of the step; the attempts of one visit share it." })),
  ended_by: orNull(oneOf("complete", "text"), {
    description:
      "How a successful step ended. `complete`: the agent called `complete`. `text`: it stopped without that call even after a reminder, so its last text is the result.",
  }),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  queued_at: t.String({
    format: "date-time",
    description: "When the step could begin: the steps before it were done, and it waited for a free slot.",
  }),
  started_at: orNull(Time),
  finished_at: orNull(Time),
});
export type Step = Static<typeof Step>;

export const StepOutput = t.Object({
  run_id: t.String(),
  step_id: t.String(),
  status: StepStatus,
  attempt: t.Integer(),
  text: t.String(),
  outputs: Outputs,
  structured: orNull(Outputs),
});
export type StepOutput = Static<typeof StepOutput>;

export const HistoryItem = t.Object({
  run_id: t.String(),
  pipeline_id: t.String(),
  project_id: orNull(t.String()),
  task_id: orNull(t.String()),
  status: RunStatus,
  error: Run.properties.error,
  outputs: Outputs,
  outside: Run.properties.outside,
  steps: t.Array(
    t.Object({ step_id: t.String(), agent_id: orNull(t.String()), status: StepStatus, attempt: t.Integer() }),
  ),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  started_at: orNull(Time),
  finished_at: orNull(Time),
  duration_ms: orNull(t.Integer()),
});
export type HistoryItem = Static<typeof HistoryItem>;
