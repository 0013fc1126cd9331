/** The parts of a chat that the terminal reads from the API, and how its turns are followed. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { Problem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import type { Client } from "../server/client.ts";
import { shortCostText } from "../terminal/table.ts";
import type { Attached } from "./attach.ts";

export type ChatView = RowOf<"/v1/chat/sessions">;
export type MessageView = ChatDetailView["messages"][number];
export type ChatDetailView = AnswerOf<"GET", `/v1/chat/sessions/${string}`>;

export const pathOf = (id: string) => `/v1/chat/sessions/${id}` as const;

export interface TurnEnd {
  status: "succeeded" | "failed" | "cancelled";
  error?: { code: string; message: string };
}

/**
 * Sends a message and passes the session's events to `take` until its turn has ended.
 * @throws Problem when the message is refused, or the session ends.
 */
export async function say(
  client: Client,
  session: ChatView,
  message: string,
  attached: readonly Attached[],
  take: (event: SkepEvent) => void,
): Promise<TurnEnd> {
  const { reply } = await client.call("GET", `${pathOf(session.id)}?limit=1`);
  const sent = await client.call("POST", `${pathOf(session.id)}/message`, {
    message,
    attachment_ids: attached.map(({ id }) => id),
  });
  return follow(client, session.id, reply.last_event_id, take, sent.message_id);
}

/**
 * Follows the chat's events after the id `after` until the turn of that message has ended, or any turn if none is
 * named.
 */
export async function follow(
  client: Client,
  id: string,
  after: number,
  take: (event: SkepEvent) => void,
  messageId?: string,
): Promise<TurnEnd> {
  const done = new AbortController();
  try {
    for await (const event of client.events(`/v1/events/stream?session_id=${id}&after=${after}`, done.signal)) {
      take(event);
      const { kind, data } = event;
      if (kind === "turn_ended" && (messageId === undefined || data["message_id"] === messageId))
        return data as unknown as TurnEnd;
      if (kind === "session_ended") break;
    }
  } finally {
    done.abort();
  }
  throw new Problem(409, "session_ended", "This chat has ended.");
}

const short = new Intl.NumberFormat("en", { notation: "compact" });

/**
 * The chat's cost and how full the model's window is: `$0.0123 · 12 %`. Shows tokens where the window's size is
 * unknown.
 */
export function meterOf(chat: ChatView): string {
  const { used, window } = chat.context;
  const cost = shortCostText(chat);
  if (used === null) return cost;
  return `${cost} · ${window ? `${Math.round((100 * used) / window)} %` : `${short.format(used)} tokens`}`;
}
