/** Helpers for choosing among a run's steps and attempts. */
import type { Schemas } from "../../api/client.ts";

export type Step = Schemas["Step"];
export type StepPlan = Schemas["StepPlan"];
export type Attempt = Schemas["StepAttempt"];

/** States of a step that has not ended. */
const AHEAD = new Set(["pending", "queued", "running", "waiting"]);

/**
 * The attempts of a step, oldest first. For a step that runs for each item, these are the attempts that gather the
 * items.
 */
export const attemptsOf = (rows: Attempt[], step: string): Attempt[] =>
  rows.filter(({ step_id, index }) => step_id === step && index === null);

export const childrenOf = (rows: Attempt[], step: string): Attempt[] =>
  rows.filter(({ step_id, index }) => step_id === step && index !== null);

export const latestOf = (rows: Attempt[], step: string): Attempt | undefined => attemptsOf(rows, step).at(-1);

/** Who or what does the step, in a word or two. @param nameOf returns an agent's name. */
export function whoDoes({ kind, agent_id, command }: StepPlan, nameOf: (agent: string) => string): string {
  if (kind === "approval") return "a person";
  if (kind !== "command") return agent_id ? nameOf(agent_id) : "";
  const line = (command ?? "").split("\n")[0] ?? "";
  return line === "" || line.includes("${{") ? "a command" : `$ ${line}`;
}

/**
 * The step that a run's page opens with: one that waits or failed, else one that is active or next, else the last one
 * that did something.
 */
export function openStep(steps: StepPlan[], run: Schemas["Run"]): string {
  const settled = new Set(steps.filter(({ status }) => !AHEAD.has(status)).map(({ id }) => id));
  const next = run.finished_at
    ? undefined
    : steps.find(({ id, needs }) => !settled.has(id) && needs.every((one) => settled.has(one)))?.id;
  const findFirst = (...states: string[]) => steps.find(({ status }) => states.includes(status))?.id;
  const done = steps.findLast(({ status }) => status === "succeeded")?.id;
  return (
    findFirst("waiting") ??
    run.error?.step_id ??
    findFirst("failed") ??
    findFirst("running", "queued") ??
    next ??
    done ??
    steps[0]?.id ??
    ""
  );
}
