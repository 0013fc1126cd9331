/** Choosing among a run's steps and attempts. */
import type { Schemas } from "../../api/client.ts";

export type Step = Schemas["Step"];
export type StepPlan = Schemas["StepPlan"];

/** Attempts of a step itself, oldest first; of a step done for each item the one that gathers them. */
export const attemptsOf = (rows: Step[], step: string): Step[] =>
  rows.filter(({ step_id, index }) => step_id === step && index === null);

export const childrenOf = (rows: Step[], step: string): Step[] =>
  rows.filter(({ step_id, index }) => step_id === step && index !== null);

export const latestOf = (rows: Step[], step: string): Step | undefined => attemptsOf(rows, step).at(-1);

/** Who or what does it, in a word or two. */
export function whoDoes({ kind, agent_id, command }: StepPlan): string {
  if (kind === "approval") return "a person";
  return kind === "command" ? `$ ${command?.split("\n")[0] ?? ""}` : (agent_id ?? "");
}

/** The step that a run's page opens at: what waits or failed, else what is at work, else the last that did something. */
export function openStep(steps: StepPlan[], run: Schemas["Run"]): string {
  const first = (...states: string[]) => steps.find(({ status }) => states.includes(status))?.id;
  const done = steps.findLast(({ status }) => status === "succeeded")?.id;
  return (
    first("waiting") ??
    run.error?.step_id ??
    first("failed") ??
    first("running", "queued") ??
    done ??
    steps[0]?.id ??
    ""
  );
}
