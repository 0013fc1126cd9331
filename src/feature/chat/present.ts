/** Turns sessions and their messages into the chats that the API shows. */
import { toUsd } from "../../core/money.ts";
import { shownOf } from "../../core/schema.ts";
import type { AttachedPart, MessagePart } from "../../engine/parts.ts";
import type { SessionRow } from "../sessions/service.ts";
import type { TranscriptMessage } from "../sessions/transcript.ts";
import { type ChatMessage, ChatSession } from "./model.ts";
import type { ReplyCost } from "./reply-costs.ts";
import type { ChatRow } from "./store.ts";

const wordsOf = (parts: readonly MessagePart[], type: "text" | "thinking"): string =>
  parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("\n\n");

export const attachmentsOf = (parts: readonly MessagePart[]): ChatMessage["attachments"] =>
  parts
    .filter((part): part is AttachedPart => part.type === "image" || part.type === "file")
    .map(({ attachment_id: id, name, media_type, size_bytes }) => ({ id, name, media_type, size_bytes }));

/** @param cost of the reply whose last message this is. */
export function presentMessage(message: TranscriptMessage, cost?: ReplyCost): ChatMessage {
  const { id, seq, role, parts, covers_to, withdrawn, created_at } = message;
  const results = new Map(parts.flatMap((part) => (part.type === "tool_result" ? [[part.call_id, part]] : [])));
  const thinking = wordsOf(parts, "thinking");
  return {
    id,
    seq,
    withdrawn,
    created_at,
    content: wordsOf(parts, "text"),
    attachments: attachmentsOf(parts),
    role: role === "user" || role === "assistant" ? role : "system",
    ...(thinking === "" ? {} : { thinking }),
    ...cost,
    tool_calls: parts.flatMap((part) => {
      if (part.type !== "tool_call") return [];
      const result = results.get(part.call_id);
      const { call_id, tool, input } = part;
      return [{ call_id, tool, input, ok: result?.ok ?? null, output: result?.output ?? null }];
    }),
    ...(role === "summary" && covers_to !== null ? { summary_to: covers_to } : {}),
  };
}

const STATUS: Record<SessionRow["status"], ChatSession["status"]> = {
  open: "ready",
  queued: "busy",
  running: "busy",
  ended: "ended",
  cancelled: "ended",
  succeeded: "ended",
  failed: "failed",
};

export function presentChat(
  row: ChatRow,
  { model, window, queued }: { model: string | null; window: number | null; queued: number },
): ChatSession {
  return {
    ...shownOf(ChatSession, row),
    model,
    queued,
    status: STATUS[row.status],
    cost_usd: toUsd(row.spent_nano),
    context: { used: row.context_tokens, window },
  };
}

/** A chat as Markdown, for people. */
export function chatAsMarkdown(chat: ChatSession, messages: readonly ChatMessage[]): string {
  const head = `# ${chat.title ?? "Chat"}\n\nWith ${chat.agent_id}, started ${chat.created_at}.\n`;
  const body = messages.map(({ role, content, tool_calls, attachments, withdrawn, created_at }) =>
    [
      `\n## ${role === "user" ? "You" : role === "assistant" ? chat.agent_id : "Note"} · ${created_at}${withdrawn ? " · taken back" : ""}\n`,
      content,
      ...attachments.map(({ name, media_type }) => `- attached: ${name} (${media_type})`),
      ...tool_calls.map(
        ({ tool, input, ok }) => `- ${tool} ${JSON.stringify(input)}${ok === false ? " (failed)" : ""}`,
      ),
    ].join("\n"),
  );
  return `${head}${body.join("\n")}\n`;
}
