/** The messages of a session, in the form that people read. */
import type { EventLog } from "../../store/event-log.ts";
import type { Store } from "../../store/store.ts";
import type { SessionRow, Sessions } from "../sessions/service.ts";
import type { ChatDetail, ChatMessage } from "./model.ts";
import { presentMessage } from "./present.ts";
import { replyCosts } from "./reply-costs.ts";

export interface TranscriptsDeps {
  store: Store;
  sessions: Pick<Sessions, "transcript">;
  events: Pick<EventLog, "read" | "lastId" | "lastOf">;
}

const PAGE = 1_000;
const REPLY_EVENT_KINDS = ["agent_output", "agent_thinking"];
/** Events after which the text streamed before is either stored as a message or withdrawn. */
const REPLY_BOUNDS = [
  "turn_started",
  "turn_steered",
  "turn_ended",
  "tool_call_start",
  "tool_call_end",
  "output_withdrawn",
];
const REPLY_EVENTS = 20_000;

export function createTranscripts({ store, sessions, events }: TranscriptsDeps) {
  /**
   * The text of the running reply since its last tool call. A client continues the event stream after `last_event_id`.
   */
  const replySoFar = (row: SessionRow, last: ChatMessage | undefined): ChatDetail["reply"] => {
    store.flush();
    const reply = { text: "", thinking: "", last_event_id: events.lastId() };
    if (row.status !== "running") return reply;
    const since = events.lastOf(row.id, REPLY_BOUNDS);
    for (const { kind, data } of events.read(since, REPLY_EVENTS, { session_id: row.id, kinds: REPLY_EVENT_KINDS }))
      if (data["call_id"] === undefined) reply[kind === "agent_output" ? "text" : "thinking"] += String(data["text"]);
    const isKept = last?.role === "assistant" && last.content.trim() === reply.text.trim();
    return isKept ? { ...reply, text: "", thinking: "" } : reply;
  };

  return {
    pageOf(
      row: SessionRow,
      { limit, before }: { limit: number; before?: number | undefined },
    ): Pick<ChatDetail, "messages" | "earlier" | "reply"> {
      const end = Math.min(before ?? row.message_count, row.message_count);
      const from = Math.max(0, end - limit);
      const said = sessions.transcript(row.id, from, end - from);
      const costs = replyCosts(store.statement, said);
      const messages = said.map((message) => presentMessage(message, costs.get(message.seq)));
      return { messages, earlier: from > 0, reply: replySoFar(row, messages.at(-1)) };
    },
    all({ id, message_count }: Pick<SessionRow, "id" | "message_count">): ChatMessage[] {
      const messages: ChatMessage[] = [];
      for (let from = 0; from < message_count; from += PAGE)
        messages.push(...sessions.transcript(id, from, PAGE).map((message) => presentMessage(message)));
      return messages;
    },
  };
}
