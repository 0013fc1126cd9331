/** Decides the outcome of an attempt from its ended run. */
import type { RunRow, StepRow } from "../runs/store.ts";
import { CHECK_STEP, WORK_STEP } from "./definition.ts";
import { rewardIn } from "./reward.ts";
import type { AttemptRow } from "./store.ts";

type EndedStep = Pick<StepRow, "step_id" | "status" | "outputs" | "error">;
type EndedRun = Pick<RunRow, "status" | "error">;

/** Codes of failures that are not the agent's: of the provider, the machine, or the eval itself. */
const NOT_ITS_OWN =
  /^(provider_|sandbox_|docker_|model_|no_model|disk_full|script_invalid|workspace_|replay_|internal$|context_truncated|window_too_small|agent_(broken|disabled))/;
/** Codes of failures when the machine allows no commands. */
const NOT_BEGUN: ReadonlySet<string> = new Set(["shell_denied", "shell_disabled"]);
/** Exit code of the command around a task's script when its files could not be unpacked. */
const NOT_UNPACKED = 125;
const REASON_CHARACTERS = 500;

type Outcome = Pick<AttemptRow, "status" | "reason">;

/**
 * @param steps of the run; of each step the latest attempt comes last.
 * @param byReward whether the reward that the tests wrote decides, instead of their exit code.
 */
export function outcomeOf(run: EndedRun, steps: readonly EndedStep[], byReward = false): Outcome {
  const findLast = (id: string) => steps.findLast(({ step_id }) => step_id === id);
  const [work, check] = [findLast(WORK_STEP), findLast(CHECK_STEP)];
  if (run.status === "cancelled") return toOutcome("cancelled", "The run was cancelled.");
  if (byReward && check && isTested(check)) return judgeReward(check, work);
  if (check?.status === "succeeded") return { status: "passed", reason: null };
  const wrong = work?.error ?? null;
  const refused = [work, check].find((step) => step?.error && NOT_BEGUN.has(step.error.code));
  if (refused) return toOutcome("error", refused.error!.message);
  if (wrong && NOT_ITS_OWN.test(wrong.code)) return toOutcome("error", wrong.message);
  if (check?.status !== "failed" && run.error?.code !== "budget_exceeded")
    return toOutcome(wrong ? "failed" : "error", wrong?.message ?? run.error?.message ?? "Its tests did not run.");
  if (run.error?.code === "budget_exceeded") return toOutcome("failed", run.error.message);
  if (check?.outputs["exit_code"] === NOT_UNPACKED)
    return toOutcome("error", `The sandbox could not unpack the tests: ${outputOf(check)}`);
  return toOutcome("failed", [wrong?.message, `The tests say: ${outputOf(check)}`].filter(Boolean).join(" "));
}

function toOutcome(status: AttemptRow["status"], reason: string): Outcome {
  return { status, reason: reason.slice(0, REASON_CHARACTERS) };
}

/** Whether the tests ran to their end, with any result. */
const isTested = ({ status, error, outputs }: EndedStep): boolean =>
  (status === "succeeded" || (status === "failed" && error?.code !== "timeout")) &&
  typeof outputs["exit_code"] === "number" &&
  outputs["exit_code"] !== NOT_UNPACKED;

/** Exit codes above this come from a shell whose command was ended by a signal. Such output is no report. */
const KILLED = 128;

/** The outcome by reward: 1 passes. An invalid reward is an error, which says nothing about the agent. */
function judgeReward(check: EndedStep, work: EndedStep | undefined): Outcome {
  const code = Number(check.outputs["exit_code"]);
  if (code > KILLED)
    return toOutcome("error", `Its tests were killed (exit code ${code}), so their reward counts for nothing.`);
  const found = rewardIn(String(check.outputs["output"] ?? ""));
  if ("fault" in found) return toOutcome("error", found.fault);
  if (found.value === 1) return { status: "passed", reason: null };
  const wrong = work?.error ?? null;
  if (wrong && NOT_ITS_OWN.test(wrong.code)) return toOutcome("error", wrong.message);
  return toOutcome("failed", [wrong?.message, `The reward is ${found.value}; 1 passes.`].filter(Boolean).join(" "));
}

/** The last line of a step's output. */
function outputOf(step: EndedStep | undefined): string {
  const text = String(step?.outputs["output"] ?? "");
  return (
    text
      .trimEnd()
      .split("\n")
      .at(-1)
      ?.slice(-REASON_CHARACTERS / 2) ||
    (step?.error?.message ?? "nothing")
  );
}
