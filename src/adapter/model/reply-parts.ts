/** Puts the SDK's stream parts together into the parts of a reply, in the order in which they began. */
import type { AssistantPart } from "../../engine/model.ts";
import { stampProviderData } from "./prompt.ts";

/** The stream parts that matter here, by their shape; all others are passed over. */
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
}

export interface ReplyParts {
  /** Takes a part. True if it carried content: a token has arrived. */
  take(part: StreamPart): boolean;
  /** Something was handed to a listener, so the call may not be made again behind its back. */
  shown(): boolean;
  characters(): number;
  /** Empty text is left out; thinking without text stays when it carries a signature. */
  all(): AssistantPart[];
  /** Without tool calls: for a reply that did not come to its end. */
  partial(): AssistantPart[];
}

type Open = Extract<AssistantPart, { type: "text" | "thinking" }>;

export function createReplyParts(
  provider: string,
  listener: { onText?(text: string): void; onThinking?(text: string): void },
): ReplyParts {
  const parts: AssistantPart[] = [];
  const open = new Map<string, Open>();
  let shown = false;
  let characters = 0;

  function stamp(part: AssistantPart, metadata: unknown): void {
    if (metadata !== undefined) part.provider = stampProviderData(provider, metadata);
  }

  function begin(type: Open["type"], part: StreamPart): Open {
    const made: Open = { type, text: "" };
    stamp(made, part.providerMetadata);
    open.set(`${type}:${part.id}`, made);
    parts.push(made);
    return made;
  }

  function grow(type: Open["type"], part: StreamPart): boolean {
    const target = open.get(`${type}:${part.id}`) ?? begin(type, part);
    stamp(target, part.providerMetadata);
    const text = part.text ?? "";
    if (!text) return false;
    target.text += text;
    characters += text.length;
    const tell = type === "text" ? listener.onText : listener.onThinking;
    if (tell) {
      shown = true;
      tell.call(listener, text);
    }
    return true;
  }

  function toolCall(part: StreamPart): boolean {
    if (part.providerExecuted) return true;
    const call: AssistantPart = {
      type: "tool_call",
      call_id: part.toolCallId ?? "",
      tool: part.toolName ?? "",
      input: part.input ?? {},
    };
    stamp(call, part.providerMetadata);
    parts.push(call);
    return true;
  }

  function take(part: StreamPart): boolean {
    switch (part.type) {
      case "text-start":
        begin("text", part);
        return false;
      case "reasoning-start":
        begin("thinking", part);
        return false;
      case "text-delta":
        return grow("text", part);
      case "reasoning-delta":
        return grow("thinking", part);
      case "text-end":
      case "reasoning-end": {
        const ended = open.get(`${part.type === "text-end" ? "text" : "thinking"}:${part.id}`);
        if (ended) stamp(ended, part.providerMetadata);
        return false;
      }
      case "tool-input-delta":
        characters += part.delta?.length ?? 0;
        return true;
      case "tool-input-start":
        return true;
      case "tool-call":
        return toolCall(part);
      default:
        return false;
    }
  }

  const filled = (part: AssistantPart): boolean =>
    part.type === "tool_call" || part.text !== "" || (part.type === "thinking" && part.provider !== undefined);
  return {
    take,
    shown: () => shown,
    characters: () => characters,
    all: () => parts.filter(filled),
    partial: () => parts.filter((part) => part.type !== "tool_call" && filled(part)),
  };
}
