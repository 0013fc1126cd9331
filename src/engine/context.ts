/**
 * Turns a session into the messages a model reads, and fits them into its window. Old tool outputs are dropped first,
 * then newer ones are cut to their ends; if that is not enough, a summary replaces the conversation.
 */
import type { StoredMessage } from "./execution.ts";
import type { DataPart, ModelMessage } from "./model.ts";
import { keepEnds } from "./output.ts";
import { type AttachedPart, type InputPart, type TextPart, textPart } from "./parts.ts";

/** Rough number of characters per token in English and code. What matters here is an upper bound for the tokens. */
const CHARACTERS_PER_TOKEN = 3.5;
/** Estimated tokens of an attachment: at least those of a picture, more for large files. */
const IMAGE_TOKENS = 1_600;
const ATTACHED_BYTES_PER_TOKEN = 200;
/** Part of the window that the prompt may fill; the rest is for the reply. */
const FILL = 0.75;
const DEFAULT_WINDOW = 32_000;
/** Number of messages at the end whose tool outputs are kept, at least in part. */
const KEPT_MESSAGES = 6;
const KEPT_OUTPUT_BYTES = 4_000;
/** The least bytes of the conversation that a summary is made from. */
const SUMMARY_BYTES = 4_000;
const DROPPED = "[output dropped to save room; run the tool again if you need it]";

/**
 * Extra tokens for each byte of a character beyond its first. Non-Latin scripts have fewer characters per token, and
 * fewer still the more UTF-8 bytes a character takes. With this term the count is at least that of the tokenizers of
 * GPT and Gemma, and nearly that of Qwen.
 */
const TOKENS_PER_MORE_BYTE = 0.25;

export const estimateTokens = (text: string): number =>
  Math.ceil(text.length / CHARACTERS_PER_TOKEN + (Buffer.byteLength(text) - text.length) * TOKENS_PER_MORE_BYTE);

/** Estimated tokens of any value sent to a model, including attached bytes. */
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

/**
 * Estimated tokens of a request whose text has so many characters. The bytes attached to its messages are in that text
 * as base64, so they are taken out and counted as attachments.
 */
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

/** Turns an attachment into what the model gets: its bytes, or words about it. */
export type Attach = (part: AttachedPart) => Promise<DataPart | TextPart>;

/**
 * Messages as the model reads them; each reply is followed by the results of its calls. @param messages see `context`
 * of the rows.
 */
export async function toModelMessages(messages: readonly StoredMessage[], attach: Attach): Promise<ModelMessage[]> {
  const out: ModelMessage[] = [];
  const say = (...parts: (TextPart | DataPart)[]) => void out.push({ role: "user", parts });
  const toModelPart = (part: InputPart) => (part.type === "text" ? part : attach(part));
  for (const message of messages) {
    if (message.role === "user") say(...(await Promise.all(message.parts.map(toModelPart))));
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

/**
 * Tokens that the conversation and the system prompt may take together. @param window of the model; 32,000 when
 * unknown.
 */
export const roomOf = (window: number | null): number => Math.floor((window ?? DEFAULT_WINDOW) * FILL);

interface Fitted {
  messages: ModelMessage[];
  /** False when shortening outputs was not enough, so that a summary is needed. */
  fits: boolean;
  tokens: number;
}

/** Shortens tool outputs, oldest first, until everything fits. @param room tokens, including the system prompt's. */
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

/**
 * Writes the conversation as one text with the request below it. When it does not fit the room, its middle is left out.
 */
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
