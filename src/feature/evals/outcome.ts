/** What an attempt's ended run says. */
import type { RunStatus, StepStatus } from "../../core/run-states.ts";
import { CHECK_STEP, WORK_STEP } from "./definition.ts";
import type { AttemptRow } from "./store.ts";

interface EndedStep {
  step_id: string;
  status: StepStatus;
  outputs: Record<string, unknown>;
  error: { code: string; message: string } | null;
}
interface EndedRun {
  status: RunStatus;
  error: { code: string; message: string } | null;
}

/** Failures that say nothing of the agent: the provider, the machine, or the eval itself. */
const NOT_ITS_OWN =
  /^(provider_|sandbox_|docker_|model_|no_model|disk_full|script_invalid|workspace_|replay_|internal$|context_truncated|window_too_small|agent_(broken|disabled))/;
/** The machine lets no command run. */
const NOT_BEGUN: ReadonlySet<string> = new Set(["shell_denied", "shell_disabled"]);
/** What the command around a task's script ends with where its files could not be unpacked. */
const NOT_UNPACKED = 125;
const REASON_CHARACTERS = 500;

/** @param steps of the run, the latest attempt of each last. */
export function outcomeOf(run: EndedRun, steps: readonly EndedStep[]): Pick<AttemptRow, "status" | "reason"> {
  const last = (id: string) => steps.findLast(({ step_id }) => step_id === id);
  const [work, check] = [last(WORK_STEP), last(CHECK_STEP)];
  const because = (status: AttemptRow["status"], reason: string) => ({
    status,
    reason: reason.slice(0, REASON_CHARACTERS),
  });
  if (run.status === "cancelled") return because("cancelled", "The run was cancelled.");
  if (check?.status === "succeeded") return { status: "passed", reason: null };
  const wrong = work?.error ?? null;
  const refused = [work, check].find((step) => step?.error && NOT_BEGUN.has(step.error.code));
  if (refused) return because("error", refused.error!.message);
  if (wrong && NOT_ITS_OWN.test(wrong.code)) return because("error", wrong.message);
  if (check?.status !== "failed" && run.error?.code !== "budget_exceeded")
    return because(wrong ? "failed" : "error", wrong?.message ?? run.error?.message ?? "Its tests did not run.");
  if (run.error?.code === "budget_exceeded") return because("failed", run.error.message);
  if (check?.outputs["exit_code"] === NOT_UNPACKED)
    return because("error", `The sandbox could not unpack the tests: ${outputOf(check)}`);
  return because("failed", [wrong?.message, `The tests say: ${outputOf(check)}`].filter(Boolean).join(" "));
}

/** The last line that a command wrote. */
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
