/** What runs ask of the pipeline planner (engine/pipeline), handed in by app.ts: pure functions over rows. */
import type { Decision } from "../../engine/pipeline/decisions.ts";
import type { PipelineDefinition, PipelineStep } from "../../engine/pipeline/definition.ts";
import type { RunRow as PlanRun, StepRow as PlanStep } from "../../engine/pipeline/rows.ts";
import type { StepSettings } from "../../engine/pipeline/scope.ts";
import type { RunStatus, StepStatus } from "../../engine/pipeline/states.ts";

export interface Planner {
  /** What happens next; nothing for a run that has ended. */
  plan(
    definition: PipelineDefinition,
    run: PlanRun,
    rows: readonly PlanStep[],
    now: number,
    options: { agentAttempts: ReadonlyMap<string, number> },
  ): Decision[];
  /** Cancels what is open and the run. */
  cancel(definition: PipelineDefinition, run: PlanRun, rows: readonly PlanStep[]): Decision[];
  /** Takes a failed or cancelled run up again. */
  restart(definition: PipelineDefinition, run: PlanRun, rows: readonly PlanStep[], fromStep?: string): Decision[];
  settingsOf(definition: PipelineDefinition, step: PipelineStep, run: Pick<PlanRun, "model">): StepSettings;
  checkInputs(
    definition: PipelineDefinition,
    given: Readonly<Record<string, string>>,
  ): { values: Record<string, string>; problems: { name: string; message: string }[] };
  assertRunMove(from: RunStatus, to: RunStatus): void;
  assertStepMove(from: StepStatus, to: StepStatus): void;
}

export type { Decision, PipelineDefinition, PipelineStep, PlanRun, PlanStep, RunStatus, StepStatus };
