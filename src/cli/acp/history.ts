/** Tells an editor that opens a chat again what was said in it. */
import { type ChatDetailView, type MessageView, pathOf } from "../chat/session.ts";
import { presentCall, presentEnd } from "./calls.ts";
import type { Link } from "./link.ts";
import { type Tell, toMessageUpdate, toThoughtUpdate } from "./teller.ts";

const PAGE = 100;
const MESSAGES = 1_000;

/** @returns the chat as it was when its newest messages were read, before the older pages. */
export async function tellHistory(link: Link, id: string, tell: Tell, cwd: string): Promise<ChatDetailView> {
  const newest = await link.ask((server) => server.call("GET", `${pathOf(id)}?limit=${PAGE}`));
  let { messages, earlier } = newest;
  while (earlier && messages.length < MESSAGES) {
    const before = messages[0]!.seq;
    const page = await link.ask((server) => server.call("GET", `${pathOf(id)}?limit=${PAGE}&before=${before}`));
    earlier = page.earlier;
    messages = [...page.messages, ...messages];
  }
  if (earlier) await tell(toThoughtUpdate("(Earlier messages are in the dashboard.)\n"));
  for (const message of messages) if (!message.withdrawn) await tellMessage(message, tell, cwd);
  return newest;
}

async function tellMessage(message: MessageView, tell: Tell, cwd: string): Promise<void> {
  const { role, content, thinking = "", tool_calls, attachments } = message;
  if (role === "user") {
    const files = attachments.map(({ name }) => `\n[${name}]`).join("");
    return tell({ sessionUpdate: "user_message_chunk", content: { type: "text", text: `${content}${files}` } });
  }
  if (role === "system") return;
  if (thinking !== "") await tell(toThoughtUpdate(thinking));
  if (content !== "") await tell(toMessageUpdate(content));
  for (const { ok, output, ...call } of tool_calls) {
    await tell({ sessionUpdate: "tool_call", ...presentCall(call, cwd) });
    const end = ok === null ? { status: "in_progress" as const } : presentEnd(call, { ok, output: output ?? "" }, cwd);
    await tell({ sessionUpdate: "tool_call_update", toolCallId: call.call_id, ...end });
  }
}
