/**
 * The parts of a message, in the form in which they are stored. A message is always a list of parts, never a bare text.
 */

/** Opaque data of a provider that must go back to it unchanged with the part (signatures of reasoning). */
export type ProviderData = Record<string, unknown> | undefined;

export interface TextPart {
  type: "text";
  text: string;
  provider?: ProviderData;
}

interface ThinkingPart {
  type: "thinking";
  text: string;
  provider?: ProviderData;
}

/** A picture or document that somebody attached. The row holds its id, never its bytes. */
export interface AttachedPart {
  type: "image" | "file";
  attachment_id: string;
  name: string;
  media_type: string;
  size_bytes: number;
}

interface ToolCallPart {
  type: "tool_call";
  call_id: string;
  tool: string;
  input: unknown;
  provider?: ProviderData;
}

/** The result of a call, as transcripts show it. The engine stores it with the call. */
interface ToolResultPart {
  type: "tool_result";
  call_id: string;
  tool: string;
  ok: boolean;
  output: string;
}

/** What a person, or the caller that starts the work, says. */
export type InputPart = TextPart | AttachedPart;
export type AssistantPart = TextPart | ThinkingPart | ToolCallPart;
export type MessagePart = InputPart | ThinkingPart | ToolCallPart | ToolResultPart;

export const textPart = (text: string): TextPart => ({ type: "text", text });

/** The text of the parts, without reasoning. */
export const textOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("");
