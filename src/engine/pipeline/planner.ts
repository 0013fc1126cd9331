/** The planner as the runs feature takes it. */
import { plan } from "./plan.ts";
import { checkInputs, settingsOf } from "./scope.ts";
import { assertMove, type RunStatus, type StepStatus } from "./states.ts";
import { planRestart, planStop } from "./steering.ts";

export const planner = {
  plan,
  cancel: planStop,
  restart: planRestart,
  settingsOf,
  checkInputs,
  assertRunMove: (from: RunStatus, to: RunStatus) => assertMove("run", from, to),
  assertStepMove: (from: StepStatus, to: StepStatus) => assertMove("step", from, to),
};
