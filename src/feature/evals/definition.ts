/** The pipeline of one attempt: it puts files into the workspace, lets the worker work, and decides by hidden tests. */
import type { PipelineDefinition, PipelineStep } from "../../engine/pipeline/definition.ts";
import type { PackedTask } from "../../store/tables/evals.ts";
import { REPORT_REWARD } from "./reward.ts";

export const EVAL_PIPELINE = "eval";
export const WORK_STEP = "work";
export const CHECK_STEP = "check";

const UNPACK = 'printf %s "$SKEP_FILES" | base64 -d | gzip -dc | tar -xf -';
/**
 * Runs a script whose files are not in the workspace: they are in a folder that is removed afterwards. The script runs
 * in the workspace.
 */
const runFrom = (script: string): string =>
  `d=$(mktemp -d) || exit 125; (cd "$d" && ${UNPACK}) || exit 125; TASK_FILES="$d" sh "$d/${script}"; code=$?; rm -rf "$d"; exit $code`;
/** Runs the tests with an additional folder for their reward, and reports what they wrote there. */
const runForReward = (script: string): string =>
  `l=$(mktemp -d) || exit 125; d=$(mktemp -d) || exit 125; (cd "$d" && ${UNPACK}) || exit 125; VERIFIER_LOGS="$l" TASK_FILES="$d" sh "$d/${script}"; code=$?; ${REPORT_REWARD}; rm -rf "$d" "$l"; exit $code`;

export type Worker = { agent: string } | "solution" | "nothing";

export function definitionOf(task: PackedTask, worker: Worker): PipelineDefinition {
  const steps: PipelineStep[] = [];
  if (task.workspace !== null)
    steps.push({ id: "prepare", name: "Put the task's files there", run: UNPACK, env: { SKEP_FILES: task.workspace } });
  if (typeof worker === "object")
    steps.push({
      id: WORK_STEP,
      name: "Work",
      agent: worker.agent,
      input: "{{ task_description }}",
      // The attempt is judged by what the tests say of the files, not by how the agent ended.
      timeout_seconds: task.timeout_seconds,
      max_attempts: 1,
      on_failure: "continue" as const,
    });
  if (worker === "solution")
    steps.push({
      id: WORK_STEP,
      name: "Reference solution",
      run: runFrom("solve.sh"),
      env: { SKEP_FILES: task.solution ?? "" },
      timeout_seconds: task.timeout_seconds,
    });
  steps.push({
    id: CHECK_STEP,
    name: "Hidden tests",
    env: { SKEP_FILES: task.tests },
    run: task.reward ? runForReward("test.sh") : runFrom("test.sh"),
    timeout_seconds: task.check_seconds,
  });
  return { id: EVAL_PIPELINE, name: "Eval", steps };
}
