/** Workflow policies: the stages through which work of a kind goes, and who does each stage. */

import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { orNull } from "../../core/schema.ts";
import { Rules, Stage, WorkType } from "./model.ts";

export const WorkflowPolicy = t.Object({
  project_id: t.String(),
  exists: t.Boolean({ description: "Whether a policy was set. If not, the project's default pipeline does the work." }),
  rules: Rules,
  wait_for_merge: t.Boolean({
    description: "Whether a task is done when its work is merged, instead of when its run has succeeded.",
  }),
});
export type WorkflowPolicy = Static<typeof WorkflowPolicy>;

export const WorkflowPolicyUpdate = t.Object(
  { rules: t.Optional(Rules), wait_for_merge: t.Optional(t.Boolean()) },
  { additionalProperties: false },
);

export const WorkflowRequest = t.Object({ work_type: t.Optional(WorkType) });

export const TaskExecute = t.Object({
  work_type: t.Optional(WorkType),
  pipeline_id: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 64,
      description:
        "Pipeline that does the work instead of the policy's pipeline or agents. It completes those stages that are among its steps.",
    }),
  ),
  task_description: t.Optional(
    t.String({
      minLength: 1,
      maxLength: LIMITS.textCharacters,
      description: "What the agents are asked to do; by default the title and description of the task.",
    }),
  ),
});
export type TaskExecute = Static<typeof TaskExecute>;

export const ResolvedWorkflow = t.Object({
  task_id: t.String(),
  work_type: WorkType,
  pipeline_id: orNull(t.String({ description: "Pipeline that does the work or its current stage." })),
  agent_id: orNull(
    t.String({ description: "The task's own agent, which does all the work if no policy names stages." }),
  ),
  stages: t.Array(Stage),
  required: t.Array(t.String()),
  skipped: t.Array(t.String()),
  completed: t.Array(t.String()),
  current: orNull(t.String()),
  next: orNull(t.String()),
  next_statuses: t.Array(t.String()),
  reason: t.String(),
});
export type ResolvedWorkflow = Static<typeof ResolvedWorkflow>;
