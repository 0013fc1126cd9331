/**
 * What of a session the model reads, and keeping it inside the model's window: old tool outputs go first, then the new
 * ones are cut to their ends, then a summary takes the place of all.
 */
import type { StoredMessage } from "./execution.ts";
import type { DataPart, ModelMessage } from "./model.ts";
import { keepEnds } from "./output.ts";
import { type AttachedPart, type InputPart, type TextPart, textPart } from "./parts.ts";

/** Characters that make a token, roughly, in English and code; an upper bound is what matters here. */
const CHARACTERS_PER_TOKEN = 3.5;
/** What an attachment costs, roughly: no less than a picture, more with its size. */
const IMAGE_TOKENS = 1_600;
const ATTACHED_BYTES_PER_TOKEN = 200;
/** Part of the window that the conversation may fill; the rest is for the reply. */
const FILL = 0.75;
const DEFAULT_WINDOW = 32_000;
/** Messages at the end whose outputs are kept, in part at least. */
const KEPT_MESSAGES = 6;
const KEPT_OUTPUT_BYTES = 4_000;
/** Least of a conversation that a summary is made of. */
const SUMMARY_BYTES = 4_000;
const DROPPED = "[output dropped to save room; run the tool again if you need it]";

/**
 * Tokens of a byte beyond the first of a character: other writings than Latin have fewer characters in a token, the more
 * bytes of UTF-8 the fewer. With this the count is no less than that of the vocabularies of GPT, Gemma and, nearly, Qwen.
 */
const TOKENS_PER_MORE_BYTE = 0.25;

export const estimateTokens = (text: string): number =>
  Math.ceil(text.length / CHARACTERS_PER_TOKEN + (Buffer.byteLength(text) - text.length) * TOKENS_PER_MORE_BYTE);

/** Tokens of anything that goes to a model, attached bytes among them. */
export function sizeOf(value: unknown): number {
  let attached = 0;
  const withoutBytes = (_: string, one: unknown): unknown => {
    if (!(one instanceof Uint8Array)) return one;
    attached += attachedTokens(one);
    return undefined;
  };
  const text = JSON.stringify(value, withoutBytes);
  return estimateTokens(text) + attached;
}

/** The same of a text that is no more than a request with those messages, whose attached bytes stand in it as base64. */
export function tokensOf(characters: number, messages: readonly ModelMessage[]): number {
  let [text, attached] = [characters, 0];
  for (const message of messages)
    for (const part of message.role === "user" ? message.parts : []) {
      if (!("data" in part)) continue;
      text -= Math.ceil((part.data.length * 4) / 3);
      attached += attachedTokens(part.data);
    }
  return Math.ceil(Math.max(0, text) / CHARACTERS_PER_TOKEN) + attached;
}

const attachedTokens = ({ length }: Uint8Array): number =>
  Math.max(IMAGE_TOKENS, Math.ceil(length / ATTACHED_BYTES_PER_TOKEN));

/** How an attachment goes to a model: as it is, or in words. */
export type Attach = (part: AttachedPart) => Promise<DataPart | TextPart>;

/** Messages as the model reads them, each reply followed by the results of its calls. @param messages see `context` of the rows. */
export async function toModelMessages(messages: readonly StoredMessage[], attach: Attach): Promise<ModelMessage[]> {
  const out: ModelMessage[] = [];
  const say = (...parts: (TextPart | DataPart)[]) => void out.push({ role: "user", parts });
  const shown = (part: InputPart) => (part.type === "text" ? part : attach(part));
  for (const message of messages) {
    if (message.role === "user") say(...(await Promise.all(message.parts.map(shown))));
    else if (message.role === "note") say(textPart(message.text));
    else if (message.role === "summary")
      say(textPart(`Summary of the work so far:\n\n${message.text}\n\nGo on from here.`));
    else {
      out.push({ role: "assistant", parts: message.parts });
      const results = message.calls.map(({ callId, tool, ok, output }) => ({ call_id: callId, tool, ok, output }));
      if (results.length > 0) out.push({ role: "tool", results });
    }
  }
  return out;
}

/** Tokens that a conversation with the system prompt may take. @param window of the model; 32,000 when unknown. */
export const roomOf = (window: number | null): number => Math.floor((window ?? DEFAULT_WINDOW) * FILL);

interface Fitted {
  messages: ModelMessage[];
  /** False when shorter outputs were not enough, so that a summary is needed. */
  fits: boolean;
  tokens: number;
}

/** Shortens outputs, oldest first, until all fits. @param room tokens, the system prompt's among them. */
export function fitRoom(system: string, messages: readonly ModelMessage[], room: number): Fitted {
  const fitted = [...messages];
  const sizes = fitted.map((message) => sizeOf(message));
  let tokens = sizes.reduce((sum, size) => sum + size, estimateTokens(system));
  const shorten = (at: number, short: (output: string) => string): void => {
    const message = fitted[at];
    if (message?.role !== "tool" || tokens <= room) return;
    const shorter = { ...message, results: message.results.map((one) => ({ ...one, output: short(one.output) })) };
    tokens += sizeOf(shorter) - sizes[at]!;
    fitted[at] = shorter;
  };
  const newest = Math.max(0, fitted.length - KEPT_MESSAGES);
  for (let at = 0; at < newest; at++) shorten(at, (output) => (output.length > DROPPED.length ? DROPPED : output));
  for (let at = newest; at < fitted.length; at++) shorten(at, (output) => keepEnds(output, KEPT_OUTPUT_BYTES));
  return { messages: fitted, fits: tokens <= room, tokens };
}

/** The conversation as one text with that request below it, its middle left out where it does not fit the room. */
export function toSummaryRequest(
  system: string,
  messages: readonly ModelMessage[],
  room: number,
  request: string,
): string {
  const lines = messages.map((message) => {
    if (message.role === "user")
      return `USER\n${message.parts.map((part) => (part.type === "text" ? part.text : `[${part.name}]`)).join("\n")}`;
    if (message.role === "tool")
      return message.results.map(({ tool, output }) => `RESULT of ${tool}\n${output}`).join("\n\n");
    const said = message.parts.map((part) => {
      if (part.type === "tool_call") return `CALL of ${part.tool} ${JSON.stringify(part.input)}`;
      return part.type === "text" ? part.text : "";
    });
    return `ASSISTANT\n${said.filter(Boolean).join("\n")}`;
  });
  const bytes = Math.floor((room - estimateTokens(system)) * CHARACTERS_PER_TOKEN) - request.length;
  return `${keepEnds(lines.join("\n\n"), Math.max(SUMMARY_BYTES, bytes))}\n\n${request}`;
}
