/**
 * Keeping a conversation inside the model's window: old tool outputs go first, then the new ones are cut to their ends,
 * then a summary takes the place of all.
 */
import type { StoredMessage } from "./execution.ts";
import type { ModelMessage } from "./model.ts";
import { keepEnds } from "./output.ts";

/** Characters that make a token, roughly, in English and code; an upper bound is what matters here. */
const CHARACTERS_PER_TOKEN = 3.5;
/** Part of the window that the conversation may fill; the rest is for the reply. */
const FILL = 0.75;
const DEFAULT_WINDOW = 32_000;
/** Messages at the end whose outputs are kept, in part at least. */
const KEPT_MESSAGES = 6;
const KEPT_OUTPUT_BYTES = 4_000;
/** Least of a conversation that a summary is made of. */
const SUMMARY_BYTES = 4_000;
const DROPPED = "[output dropped to save room; run the tool again if you need it]";

export const estimateTokens = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

/** The transcript as the model reads it: from the last summary on, each reply followed by the results of its calls. */
export function toModelMessages(transcript: readonly StoredMessage[]): ModelMessage[] {
  const start = transcript.findLastIndex((message) => message.role === "summary");
  const out: ModelMessage[] = [];
  for (const message of transcript.slice(Math.max(start, 0))) {
    if (message.role !== "assistant") {
      const content =
        message.role === "summary"
          ? `Summary of the work so far:\n\n${message.content}\n\nGo on from here.`
          : message.content;
      out.push({ role: "user", content });
      continue;
    }
    out.push({ role: "assistant", parts: message.content });
    if (message.calls.length === 0) continue;
    const results = message.calls.map(({ callId, tool, ok, output }) => ({ call_id: callId, tool, ok, output }));
    out.push({ role: "tool", results });
  }
  return out;
}

/** Tokens that a conversation with the system prompt may take. @param window of the model; 32,000 when unknown. */
export const roomOf = (window: number | null): number => Math.floor((window ?? DEFAULT_WINDOW) * FILL);

const sizeOf = (system: string, messages: readonly ModelMessage[]) =>
  estimateTokens(system) + estimateTokens(JSON.stringify(messages));

export interface Fitted {
  messages: ModelMessage[];
  /** False when shorter outputs were not enough, so that a summary is needed. */
  fits: boolean;
  tokens: number;
}

/** Shortens outputs, the oldest first, until all fits. @param room tokens, the system prompt's among them. */
export function fitRoom(system: string, messages: ModelMessage[], room: number): Fitted {
  let fitted = messages;
  let tokens = sizeOf(system, fitted);
  const shorten = (at: number, short: (output: string) => string): void => {
    const message = fitted[at];
    if (message?.role !== "tool" || tokens <= room) return;
    const results = message.results.map((result) => ({ ...result, output: short(result.output) }));
    fitted = fitted.with(at, { role: "tool", results });
    tokens = sizeOf(system, fitted);
  };
  const newest = Math.max(0, messages.length - KEPT_MESSAGES);
  for (let at = 0; at < newest; at++) shorten(at, (output) => (output.length > DROPPED.length ? DROPPED : output));
  for (let at = newest; at < messages.length; at++) shorten(at, (output) => keepEnds(output, KEPT_OUTPUT_BYTES));
  return { messages: fitted, fits: tokens <= room, tokens };
}

/** The conversation as one text with that request below it, its middle left out where it does not fit the room. */
export function toSummaryRequest(system: string, messages: ModelMessage[], room: number, request: string): string {
  const told = messages.map((message) => {
    if (message.role === "user") return `USER\n${message.content}`;
    if (message.role === "tool")
      return message.results.map(({ tool, output }) => `RESULT of ${tool}\n${output}`).join("\n\n");
    const said = message.parts.map((part) => {
      if (part.type === "tool_call") return `CALL of ${part.tool} ${JSON.stringify(part.input)}`;
      return part.type === "text" ? part.text : "";
    });
    return `ASSISTANT\n${said.filter(Boolean).join("\n")}`;
  });
  const bytes = Math.floor((room - estimateTokens(system)) * CHARACTERS_PER_TOKEN) - request.length;
  return `${keepEnds(told.join("\n\n"), Math.max(SUMMARY_BYTES, bytes))}\n\n${request}`;
}
