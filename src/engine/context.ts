/** Keeping a conversation inside the model's window: old tool outputs go first, then a summary takes the place of all. */
import type { StoredMessage } from "./execution.ts";
import type { ModelMessage } from "./model.ts";

/** Characters that make a token, roughly, in English and code; an upper bound is what matters here. */
const CHARACTERS_PER_TOKEN = 3.5;
/** Part of the window that the conversation may fill; the rest is for the reply. */
const FILL = 0.75;
const DEFAULT_WINDOW = 32_000;
/** Messages at the end that are never cut. */
const KEPT_WHOLE = 6;
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

const sizeOf = (system: string, messages: readonly ModelMessage[]) =>
  estimateTokens(system) + estimateTokens(JSON.stringify(messages));

/**
 * Messages that fit the window.
 * @param window tokens, or null when unknown (32,000 is assumed).
 * @returns `fits: false` when dropping old outputs was not enough, so that a summary is needed.
 */
export function fitWindow(
  system: string,
  messages: ModelMessage[],
  window: number | null,
): { messages: ModelMessage[]; fits: boolean; tokens: number } {
  const room = (window ?? DEFAULT_WINDOW) * FILL;
  let fitted = messages;
  let tokens = sizeOf(system, fitted);
  for (let at = 0; at < messages.length - KEPT_WHOLE && tokens > room; at++) {
    const message = fitted[at]!;
    if (message.role !== "tool") continue;
    const results = message.results.map((result) =>
      result.output.length > DROPPED.length ? { ...result, output: DROPPED } : result,
    );
    fitted = fitted.with(at, { role: "tool", results });
    tokens = sizeOf(system, fitted);
  }
  return { messages: fitted, fits: tokens <= room, tokens };
}
