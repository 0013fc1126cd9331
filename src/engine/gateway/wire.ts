/**
 * The common parts of the model gateway's wire protocols. A protocol reads a request into the engine's form and writes
 * the reply in its own form. Protocols are pure; `calls.ts` makes the calls.
 */
import { badRequest } from "../../core/errors.ts";
import { isObject, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import type { ModelMessage, ModelReply, ModelRequest, ModelTool, ModelUsage } from "../model.ts";
import { type AssistantPart, type TextPart, textPart } from "../parts.ts";
import type { Bounds } from "./bounds.ts";

export interface WireRequest {
  /** The model's name as the client sent it. */
  model: string;
  /** Whether the answer is a stream of events. */
  stream: boolean;
  /** Tools that the protocol names by namespace and name, keyed by the single name that the model reads. */
  spaces?: ReadonlyMap<string, { namespace: string; name: string }>;
  /** Whether the request asks the provider to cache a part of the prompt for an hour, which costs more. */
  cachesForHour?: boolean;
  request: Pick<ModelRequest, "system" | "messages" | "tools" | "maxOutputTokens" | "temperature">;
}

/** Writes one reply as whole server-sent events. No method may be called after `end` or `fail`. */
interface WireWriter {
  text(piece: string): string;
  thinking(piece: string): string;
  /** Writes what is still missing: tool calls, token counts, the end of the stream. */
  end(reply: ModelReply): string;
  fail(failure: WireFailure): string;
}

/** Why a request has no reply. `quota`: a budget is used up, and the client should not try again. */
export interface WireFailure {
  kind: "bad_request" | "unauthorized" | "not_found" | "quota" | "busy" | "provider";
  message: string;
  /** Seconds after which the client may try again. */
  retryAfter?: number | undefined;
}

export interface WireProtocol {
  readonly name: "chat" | "responses" | "messages" | "gemini";
  /** What a request may hold. */
  readonly bounds: Bounds;
  /** @throws Problem 400 `bad_request` when the body is not a request of this protocol. */
  read(body: Record<string, unknown>): WireRequest;
  writer(wire: Pick<WireRequest, "model" | "spaces">): WireWriter;
  /** The answer when the client asked for no stream. */
  whole(wire: Pick<WireRequest, "model" | "spaces">, reply: ModelReply): object;
  failure(failure: WireFailure): { status: number; body: object };
}

export const formatEvent = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

export const recordsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/**
 * Text and pictures of a user message. A part that the engine cannot represent is replaced by a line that names its
 * type.
 */
export function userParts(content: unknown): Extract<ModelMessage, { role: "user" }>["parts"] {
  if (typeof content === "string") return [textPart(content)];
  return recordsIn(content).map((part) => {
    const text = textIn(part, "text");
    if (text !== undefined) return textPart(text);
    return pictureIn(part) ?? textPart(`[${String(part["type"]).slice(0, 40)} left out]`);
  });
}

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;

function pictureIn(part: Record<string, unknown>) {
  const source = membersOf(part["source"]);
  const given = textIn(source, "data");
  const url = textIn(part["image_url"], "url") ?? textIn(part, "image_url") ?? "";
  const [head, type] = DATA_URL.exec(url.slice(0, 200)) ?? [];
  const media_type = type ?? textIn(source, "media_type");
  const base64 = head === undefined ? given : url.slice(head.length);
  if (media_type === undefined || base64 === undefined) return undefined;
  return {
    type: media_type.startsWith("image/") ? ("image" as const) : ("file" as const),
    media_type,
    name: "attached",
    data: new Uint8Array(Buffer.from(base64, "base64")),
  };
}

/** The text of a message, from all of its parts. */
export const wordsIn = (content: unknown): string =>
  typeof content === "string"
    ? content
    : recordsIn(content)
        .map((part) => textIn(part, "text") ?? "")
        .join("");

export function toolOf(tool: Record<string, unknown>, schema: unknown): ModelTool {
  const name = textIn(tool, "name");
  if (name === undefined || name === "") throw badRequest("A tool needs a name.");
  return { name, description: textIn(tool, "description") ?? "", parameters: { type: "object", ...membersOf(schema) } };
}

/**
 * Parses the arguments of a call, which the protocols send as JSON text. Text that is not JSON is returned unchanged.
 */
export function argumentsIn(text: string | undefined): unknown {
  if (text === undefined || text.trim() === "") return {};
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

/** Collects messages for protocols in which calls and their results are separate items. */
export function createConversation() {
  const messages: ModelMessage[] = [];
  const tools = new Map<string, string>();
  return {
    messages,
    user: (parts: Extract<ModelMessage, { role: "user" }>["parts"]) => void messages.push({ role: "user", parts }),
    assistant(parts: AssistantPart[]) {
      for (const part of parts) if (part.type === "tool_call") tools.set(part.call_id, part.tool);
      const last = messages.at(-1);
      if (last?.role === "assistant") last.parts.push(...parts);
      else if (parts.length > 0) messages.push({ role: "assistant", parts });
    },
    result(call_id: string, output: string, ok = true) {
      const result = { call_id, tool: tools.get(call_id) ?? "unknown", ok, output };
      const last = messages.at(-1);
      if (last?.role === "tool") last.results.push(result);
      else messages.push({ role: "tool", results: [result] });
    },
  };
}

export const assistantText = (content: unknown): TextPart[] => {
  const text = wordsIn(content);
  return text === "" ? [] : [textPart(text)];
};

export const readPositive = (value: unknown, name: string): number | undefined => {
  const found = numberIn(value, name);
  return found !== undefined && found > 0 ? Math.floor(found) : undefined;
};

export const totalOf = ({ input_tokens, output_tokens }: ModelUsage): number => input_tokens + output_tokens;

/** The current time in seconds since the epoch, as the protocols date replies. */
export const secondsNow = (): number => Math.floor(Date.now() / 1_000);
