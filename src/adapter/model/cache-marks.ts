/**
 * Marks which parts of a prompt a provider should cache. Anthropic caches a prefix only where it is marked. OpenRouter
 * passes such marks on to Claude models if they are on a part of a message, not on the message
 * (https://openrouter.ai/docs/features/prompt-caching). Other models cache prefixes by themselves.
 */
import { isObject } from "../../core/is-object.ts";

type Body = Record<string, unknown>;
const MARK = { cache_control: { type: "ephemeral" } };

export const needsMarks = ({ providerId }: { providerId: string }, name: string): boolean =>
  providerId === "openrouter" && name.startsWith("anthropic/");

/**
 * Marks the instructions and the last message of a chat-completions request. A request that already has marks stays as
 * it is.
 */
export function withCacheMarks(body: Body): Body {
  const { messages } = body;
  if (!Array.isArray(messages) || JSON.stringify(messages).includes('"cache_control"')) return body;
  const last = messages.length - 1;
  const system = messages.findLastIndex((message) => isObject(message) && message["role"] === "system");
  return {
    ...body,
    messages: messages.map((one: unknown, at) => (at === last || at === system ? markLastText(one) : one)),
  };
}

/** Marks the last text of a message. A message without text stays as it is. */
function markLastText(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { content } = message;
  if (typeof content === "string" && content !== "")
    return { ...message, content: [{ type: "text", text: content, ...MARK }] };
  if (!Array.isArray(content)) return message;
  const last = content.findLastIndex((part) => isObject(part) && part["type"] === "text");
  return { ...message, content: content.map((part, at) => (at === last ? { ...part, ...MARK } : part)) };
}
