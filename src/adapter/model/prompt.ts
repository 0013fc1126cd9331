/**
 * Converts the engine's messages to the AI SDK's types. Provider data (signatures of reasoning and tool calls) is
 * stamped with its provider, and only sent back to that provider. Other providers get the text and the calls without
 * it.
 */

import type { JSONValue, ModelMessage as SdkMessage, SystemModelMessage } from "ai";
import { isObject } from "../../core/is-object.ts";
import type { DataPart, ModelMessage } from "../../engine/model.ts";
import type { AssistantPart, ProviderData, TextPart } from "../../engine/parts.ts";

type SdkProviderData = Record<string, Record<string, JSONValue>>;

/** Stamps the data that the SDK gave with a part; undefined stays undefined. */
export function stampProviderData(provider: string, metadata: unknown): ProviderData {
  return metadata === undefined || metadata === null ? undefined : { provider, metadata };
}

function dataFor(provider: string, data: ProviderData): SdkProviderData | undefined {
  return data?.["provider"] === provider ? (data["metadata"] as SdkProviderData) : undefined;
}

/**
 * Tool input must be sent as an object. Input that was not valid JSON is wrapped, so that every provider accepts the
 * history.
 */
const inputObject = (input: unknown): Record<string, unknown> => (isObject(input) ? input : { invalid_input: input });

function assistantPart(provider: string, part: AssistantPart) {
  const providerOptions = dataFor(provider, part.provider);
  const extra = providerOptions ? { providerOptions } : {};
  if (part.type === "text") return { type: "text" as const, text: part.text, ...extra };
  if (part.type === "tool_call") {
    const { call_id: toolCallId, tool: toolName } = part;
    return { type: "tool-call" as const, toolCallId, toolName, input: inputObject(part.input), ...extra };
  }
  return providerOptions ? { type: "reasoning" as const, text: part.text, ...extra } : undefined;
}

/** Anthropic caches a prefix only where it is marked. For Claude models at other providers, see `cache-marks.ts`. */
const CACHE_MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

function userPart(part: TextPart | DataPart) {
  if (part.type === "text") return { type: "text" as const, text: part.text };
  const { data, media_type: mediaType, name: filename } = part;
  return part.type === "image"
    ? { type: "image" as const, image: data, mediaType }
    : { type: "file" as const, data, mediaType, filename };
}

function sdkMessage(provider: string, message: ModelMessage): SdkMessage | undefined {
  if (message.role === "user") return { role: "user", content: message.parts.map(userPart) };
  if (message.role === "assistant") {
    const content = message.parts.map((part) => assistantPart(provider, part)).filter((part) => part !== undefined);
    return content.length ? { role: "assistant", content } : undefined;
  }
  const content = message.results.map((result) => ({
    type: "tool-result" as const,
    toolCallId: result.call_id,
    toolName: result.tool,
    output: { type: result.ok ? ("text" as const) : ("error-text" as const), value: result.output },
  }));
  return content.length ? { role: "tool", content } : undefined;
}

/** The messages for a call to that provider; empty messages are left out. */
export function sdkMessages(provider: string, kind: string, messages: readonly ModelMessage[]): SdkMessage[] {
  const out = messages.map((message) => sdkMessage(provider, message)).filter((message) => message !== undefined);
  const last = out.at(-1);
  if (kind === "anthropic" && last) last.providerOptions = CACHE_MARK;
  return out;
}

export function sdkSystem(kind: string, text: string): SystemModelMessage | undefined {
  if (!text) return undefined;
  return { role: "system", content: text, ...(kind === "anthropic" ? { providerOptions: CACHE_MARK } : {}) };
}
