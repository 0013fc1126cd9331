/**
 * Sums up the session for an external agent that starts again in the middle of its work: what was said, and what was
 * done.
 */
import type { StoredMessage } from "../execution.ts";
import { firstBytes } from "../output.ts";
import { textOf } from "../parts.ts";

const RECAP_CHARACTERS = 24_000;
const INPUT_CHARACTERS = 300;
const OUTPUT_CHARACTERS = 300;

/** The messages as one text. When they are too long, the earliest are left out. */
export function recapOf(messages: readonly StoredMessage[]): string {
  const kept: string[] = [];
  let room = RECAP_CHARACTERS;
  for (const message of messages.toReversed()) {
    const text = wordsOf(message);
    if (text.length > room) {
      kept.push("[earlier messages left out]");
      break;
    }
    room -= text.length;
    kept.push(text);
  }
  return kept.reverse().join("\n\n");
}

function wordsOf(message: StoredMessage): string {
  if (message.role === "note") return "";
  if (message.role === "summary") return `SUMMARY\n${message.text}`;
  if (message.role === "user") return `USER\n${textOf(message.parts)}`;
  const calls = message.calls.map(({ tool, input, status, ok, output }) => {
    const how = status === "done" ? (ok ? "done" : "failed") : "interrupted: it may have happened in part";
    const asked = JSON.stringify(input).slice(0, INPUT_CHARACTERS);
    return `CALL ${tool} ${asked} (${how})${status === "done" ? `: ${firstBytes(output, OUTPUT_CHARACTERS)}` : ""}`;
  });
  return [`YOU\n${textOf(message.parts)}`, ...calls].join("\n");
}
