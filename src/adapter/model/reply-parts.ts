/** Assembles the SDK's stream parts into the parts of a reply, in the order in which they began. */
import { isObject, membersOf } from "../../core/is-object.ts";
import { valueFault } from "../../core/json-reader.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import { stampProviderData } from "./prompt.ts";
import { repairObject } from "./text-calls.ts";

/** The fields of stream parts that are used here; parts of other types are ignored. */
export interface StreamPart {
  type: string;
  id?: string;
  text?: string;
  delta?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  providerMetadata?: unknown;
  providerExecuted?: boolean;
  finishReason?: string;
  rawFinishReason?: string | undefined;
  usage?: {
    inputTokens?: number | undefined;
    outputTokens?: number | undefined;
    inputTokenDetails?: { cacheReadTokens?: number | undefined; cacheWriteTokens?: number | undefined };
    outputTokenDetails?: { reasoningTokens?: number | undefined };
  };
}

export type ReplyParts = ReturnType<typeof createReplyParts>;

type Open = Extract<AssistantPart, { type: "text" | "thinking" }>;

interface Listener {
  onText?(text: string): void;
  onThinking?(text: string): void;
}

/** Stream parts that carry text, and whether they begin, extend or end it. */
const WORDS: Record<string, { type: Open["type"]; what: "start" | "delta" | "end" }> = {
  "text-start": { type: "text", what: "start" },
  "text-delta": { type: "text", what: "delta" },
  "text-end": { type: "text", what: "end" },
  "reasoning-start": { type: "thinking", what: "start" },
  "reasoning-delta": { type: "thinking", what: "delta" },
  "reasoning-end": { type: "thinking", what: "end" },
};

/** Replaces an input that exceeds the bounds by a text that says so; the call is then refused when it is made. */
function boundedInput(input: unknown): unknown {
  const fault = valueFault(input);
  return fault === undefined ? (input ?? "null") : inputRefusal(fault);
}

/** @param fault the bound that the input exceeds. */
export const inputRefusal = (fault: string): string => `(arguments ${fault})`;

const isFilled = (part: AssistantPart): boolean =>
  part.type === "tool_call" || part.text !== "" || (part.type === "thinking" && part.provider !== undefined);

function notify(listener: Listener, type: Open["type"], text: string): boolean {
  if (type === "text") listener.onText?.(text);
  else listener.onThinking?.(text);
  return (type === "text" ? listener.onText : listener.onThinking) !== undefined;
}

export function createReplyParts(provider: string, listener: Listener) {
  const parts: AssistantPart[] = [];
  const open = new Map<string, Open>();
  let shown = false;
  let characters = 0;
  let calls = 0;
  let hasBroken = false;
  let lastInput: unknown;

  /**
   * Stamps provider data onto a part. Later data replaces earlier data, because a signature comes with the end of a
   * part.
   */
  function stamp(part: AssistantPart, metadata: unknown): void {
    if (metadata !== undefined) part.provider = stampProviderData(provider, metadata);
  }

  function wordsOf(type: Open["type"], id: string | undefined): Open {
    const key = `${type}:${id}`;
    const known = open.get(key);
    if (known) return known;
    const made: Open = { type, text: "" };
    open.set(key, made);
    parts.push(made);
    return made;
  }

  function takeWords(type: Open["type"], what: "start" | "delta" | "end", part: StreamPart): boolean {
    if (what === "start") open.delete(`${type}:${part.id}`);
    const target = wordsOf(type, part.id);
    stamp(target, part.providerMetadata);
    const text = what === "delta" ? (part.text ?? "") : "";
    if (!text) return false;
    target.text += text;
    characters += text.length;
    shown = notify(listener, type, text) || shown;
    return true;
  }

  /** Takes a part. @returns true if it carried content, i.e. a token has arrived. */
  function take(part: StreamPart): boolean {
    const words = WORDS[part.type];
    if (words) return takeWords(words.type, words.what, part);
    if (part.type === "tool-call" && !part.providerExecuted) {
      const { toolCallId: call_id = "", toolName: tool = "", input } = part;
      hasBroken ||= !isObject(input);
      lastInput = input;
      // Input that is not an object is refused when the call is made. Missing input counts as an empty object.
      const call: AssistantPart = {
        type: "tool_call",
        call_id,
        tool,
        input:
          input === undefined ? {} : boundedInput(typeof input === "string" ? (repairObject(input) ?? input) : input),
      };
      calls++;
      stamp(call, part.providerMetadata);
      parts.push(call);
    }
    characters += part.type === "tool-input-delta" ? (part.delta?.length ?? 0) : 0;
    return part.type === "tool-call" || part.type === "tool-input-start" || part.type === "tool-input-delta";
  }

  return {
    take,
    /** Whether anything was passed to a listener. It must be withdrawn before the call is made again. */
    hasShown: (): boolean => shown,
    characters: (): number => characters,
    /** Number of tool calls so far. */
    calls: (): number => calls,
    /** All parts, without empty texts. Thinking without text stays if it carries a signature. */
    all: (): AssistantPart[] => parts.filter(isFilled),
    /** The parts without tool calls, for a reply that did not complete. */
    partial: (): AssistantPart[] => parts.filter((part) => part.type !== "tool_call" && isFilled(part)),
    /**
     * Whether a call was sent with invalid JSON, or the last call has no arguments. In a reply that was cut, that means
     * half a call.
     */
    hasHalfCall: (): boolean => hasBroken || (calls > 0 && Object.keys(membersOf(lastInput)).length === 0),
  };
}
