/** The interviewers, each of whom leads one phase, and the text with which the server hands over to the next one. */
import type { OnboardingContext, Phase } from "./context.ts";
import { PHASES, SECTIONS } from "./context.ts";

/** The shipped agent that leads the phase. */
export const interviewerOf = (phase: Phase): string => `interviewer-${phase}`;

export const nextPhase = (phase: Phase): Phase | undefined => PHASES[PHASES.indexOf(phase) + 1];

/** Names of a phase's fields: all, and those without which it cannot end. */
export function fieldsOf(phase: Phase): { all: string[]; required: string[] } {
  const { properties, required = [] } = SECTIONS[phase];
  return { all: Object.keys(properties), required: [...required] };
}

/** A pipeline that the interviewer may choose. */
export interface Suggestion {
  id: string;
  description: string;
}

/** What an interviewer reads when its phase starts. */
export function cueFor(phase: Phase, context: OnboardingContext, pipelines: readonly Suggestion[]): string {
  const { all, required } = fieldsOf(phase);
  return [
    `[From the server, not from the person: the phase "${phase}" begins, and you lead it.]`,
    `Its fields: ${all.map((name) => (required.includes(name) ? name : `${name} (optional)`)).join(", ")}.`,
    `Known so far, as the person said it:\n\n\`\`\`json\n${JSON.stringify(context, null, 1)}\n\`\`\``,
    ...(phase === "architecture"
      ? [`Pipelines:\n${pipelines.map(({ id, description }) => `- ${id}: ${description}`).join("\n")}`]
      : []),
    phase === "intake"
      ? "Greet the person in one sentence and ask your first question."
      : "Say in one sentence what you will talk about, and ask your first question.",
  ].join("\n\n");
}
