/** The texts of notifications. Text from agents and repositories is masked as a whole before it is cut. */
import type { EventOf } from "../../core/events.ts";
import type { permissionRequested } from "../permissions/events.ts";
import type { approvalRequested, runCancelled, runComplete, runFailed, runWaiting } from "../runs/events.ts";
import type { NotificationMessage, Trigger } from "./model.ts";

type RunEvent = EventOf<typeof runWaiting | typeof runFailed | typeof runComplete | typeof runCancelled>;
export type NotifiedEvent = RunEvent | EventOf<typeof permissionRequested | typeof approvalRequested>;

interface AboutRun {
  task: string;
  project: string | undefined;
  /** The question that a waiting run asks. */
  question: string | undefined;
  /** What happens after each answer to an approval. */
  effects: { yes: string; no: string } | undefined;
  pipeline: string | null;
  url: string | null;
}

const TITLE_CHARACTERS = 120;
const TEXT_CHARACTERS = 2_000;
const WORDS: Record<RunEvent["kind"], string> = {
  run_waiting: "Waits for you",
  run_failed: "Failed",
  run_complete: "Succeeded",
  run_cancelled: "Cancelled",
};

/**
 * Whether a channel with these triggers wants events of this kind.
 * @param asks whether people answer in the channel: such a channel gets each approval, others are told once that the
 * run waits.
 */
export const isWanted = (kind: NotifiedEvent["kind"], on: readonly Trigger[], asks: boolean): boolean => {
  if (kind === "approval_requested") return asks && on.includes("waiting");
  if (kind === "run_waiting") return !asks && on.includes("waiting");
  if (kind === "permission_requested") return on.includes("waiting");
  return on.includes("ended") || (kind === "run_failed" && on.includes("failed"));
};

/** The cost in the same form as in lists of runs. */
function costText({ cost_usd, calls_without_price }: RunEvent["data"]): string {
  if (calls_without_price === 0) return `$${cost_usd.toFixed(4)}`;
  return cost_usd === 0 ? "no price" : `over $${cost_usd.toFixed(4)}`;
}

/** @param mask removes secret values from a text. */
export function messageOf(event: NotifiedEvent, about: AboutRun, mask: (text: string) => string): NotificationMessage {
  const clean = (text: string, most: number): string => cut(withoutControls(mask(text)), most);
  const write = (title: string, paragraphs: unknown[], status: string, pipeline_id: string | null) => ({
    title: clean(title, TITLE_CHARACTERS).replace(/\s+/g, " "),
    text: clean(paragraphs.filter(Boolean).join("\n\n"), TEXT_CHARACTERS),
    url: about.url,
    status,
    pipeline_id,
    project_id: event.project_id ?? null,
  });
  if (event.kind === "permission_requested") {
    const { message, subject, deadline } = event.data;
    const paragraphs = [subject, about.task, `Without an answer by ${deadline} it is refused.`];
    return write(`Waits for you: ${message}`, paragraphs, "waiting", null);
  }
  const firstLine = about.task.trim().split("\n", 1)[0]?.trim();
  const place = (pipeline: string | null) => `Pipeline ${pipeline}${about.project ? `, project ${about.project}` : ""}`;
  if (event.kind === "approval_requested") {
    const { message, deadline } = event.data;
    const paragraphs = [
      message,
      about.effects && `Approved: ${about.effects.yes}\nRefused: ${about.effects.no}`,
      deadline && `It waits until ${deadline}.`,
      place(about.pipeline),
    ];
    return write(`Waits for you: ${firstLine || about.pipeline}`, paragraphs, "waiting", about.pipeline);
  }
  const { kind, data } = event;
  const paragraphs = [
    about.question,
    data.error && `${data.error.step_id ? `${data.error.step_id}: ` : ""}${data.error.message}`,
    `${place(data.pipeline_id)}, ${costText(data)}`,
  ];
  return write(`${WORDS[kind]}: ${firstLine || data.pipeline_id}`, paragraphs, data.status, data.pipeline_id);
}

export const testMessage = (url: string | null): NotificationMessage => ({
  title: "Test of a notification channel",
  text: "This is how Skep tells you about runs.",
  url,
  status: "test",
  pipeline_id: null,
  project_id: null,
});

/** Replaces control characters, which could control terminals or headers. Line ends stay. */
const withoutControls = (text: string): string => text.replace(/[^\P{Cc}\n]/gu, " ");

function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
