/** Events of runs and their steps. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { Run, RunStatus, Step, StepStatus } from "./model.ts";

const { outputs, pipeline_id, cost_usd, calls_without_price, tokens, task_description } = Run.properties;
const { attempt, max_attempts } = Step.properties;
const RunError = t.Object({ code: t.String(), message: t.String(), step_id: t.Optional(t.String()) });
const StepError = t.Object({
  code: t.String(),
  message: t.String(),
  final: t.Optional(t.Boolean({ description: "Whether the error is final, so that the step is not tried again." })),
});
const RUNS = ["/v1/runs", "/v1/changes", "/v1/steps", "/v1/status", "/v1/approvals", "/v1/llm-calls/summary"];
const STEPS = ["/v1/runs", "/v1/steps"];
const runEvent = <const Kind extends string>(kind: Kind, description: string) =>
  defineEvent(
    kind,
    t.Object(
      { status: RunStatus, pipeline_id, outputs, cost_usd, calls_without_price, tokens, error: t.Optional(RunError) },
      { description },
    ),
    // These events also send notifications.
    { stale: [...RUNS, "/v1/notification-channels"] },
  );
const step = {
  attempt,
  max_attempts,
  index: t.Optional(t.Integer({ description: "Position of the item in a `for_each`, from 0." })),
};
const stepEvent = <const Kind extends string>(kind: Kind, description: string, stale: readonly string[] = STEPS) =>
  defineEvent(
    kind,
    t.Object(
      {
        status: StepStatus,
        ...step,
        input: t.Optional(
          t.String({ description: "What the agent is asked, or the command that runs; only in `step_queued`." }),
        ),
        outputs: t.Optional(outputs),
        error: t.Optional(StepError),
      },
      { description },
    ),
    { stale },
  );

export const runCreated = defineEvent(
  "run_created",
  t.Object({ pipeline_id, task_description }, { description: "A run was created from a pipeline." }),
  { stale: RUNS },
);
export const runComplete = runEvent("run_complete", "A run succeeded.");
export const runFailed = runEvent("run_failed", "A run failed.");
export const runCancelled = runEvent("run_cancelled", "A run was cancelled.");
export const runWaiting = runEvent("run_waiting", "A run can only continue when a person answers.");
export const runRestarted = defineEvent(
  "run_restarted",
  t.Object(
    { pipeline_id, from_step: orNull(t.String({ description: "Step from which the run continues." })) },
    { description: "An ended run continues." },
  ),
  { stale: RUNS },
);
export const runMerged = defineEvent(
  "run_merged",
  t.Object(
    {
      strategy: oneOf(...MERGE_STRATEGIES, "host"),
      into: t.String(),
      commit: t.String(),
    },
    { description: "A run's work was merged into a branch, here or by a pull request (`host`)." },
  ),
  { stale: RUNS },
);
const STEP_ENDS = [...STEPS, "/v1/lifecycle/timeline"];
export const stepQueued = stepEvent("step_queued", "A step waits for its agent.");
export const stepStarted = stepEvent("step_started", "A step's agent began.");
export const stepComplete = stepEvent("step_complete", "A step succeeded.", STEP_ENDS);
export const stepFailed = stepEvent("step_failed", "A step failed or was cancelled: `status` says which.", STEP_ENDS);
export const stepSkipped = stepEvent("step_skipped", "A step was skipped because its condition does not hold.");
export const stepRetrying = defineEvent(
  "step_retrying",
  t.Object({ attempt, max_attempts }, { description: "A failed step is tried again." }),
  { stale: STEPS },
);
export const approvalRequested = defineEvent(
  "approval_requested",
  t.Object(
    {
      step_id: t.String(),
      message: t.String(),
      deadline: orNull(Time, {
        description: "Time at which the step ends if nobody has answered; null if it waits without limit.",
      }),
    },
    { description: "A step waits for a person's answer." },
  ),
  { stale: RUNS },
);
export const approvalResolved = defineEvent(
  "approval_resolved",
  t.Object(
    {
      step_id: t.String(),
      approved: t.Boolean(),
      comment: t.String(),
      by: t.String({ description: "Id of the user who answered, or `local` or `engine`." }),
    },
    { description: "A person answered a step that waited." },
  ),
  { stale: RUNS },
);

/** Events after which a run has ended. */
export const RUN_ENDS = [runComplete, runFailed, runCancelled] as const;

export const runEvents = [
  runCreated,
  ...RUN_ENDS,
  runWaiting,
  runRestarted,
  runMerged,
  stepQueued,
  stepStarted,
  stepComplete,
  stepFailed,
  stepSkipped,
  stepRetrying,
  approvalRequested,
  approvalResolved,
] as const;
