/** Follows a chat until one of its turns has ended, even if the server restarts meanwhile. */
import { Problem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { membersOf } from "../../core/is-object.ts";
import { pathOf, type TurnEnd } from "../chat/session.ts";
import { isAway, type Link } from "./link.ts";

export interface Position {
  /** Id of the last event that the follower has handled. */
  at: number;
}

interface FollowedTurn {
  chatId: string;
  /** Updated with each event. */
  position: Position;
  /** The message whose turn is followed; undefined: the end of any turn counts. */
  messageId: string | undefined;
  take(event: SkepEvent): Promise<void>;
}

const PAUSE_MS = 500;
/** How far the end of a turn may lie from the chat's last activity, in ms. */
const NEAR_MS = 60_000;
const LOST_WORDS = "Some words of this reply are missing here. Open the chat again to read them.";
const createEndedProblem = () => new Problem(409, "session_ended", "This chat has ended. Start a new one.");

/**
 * Follows a chat until the turn has ended. @throws Problem when the chat ends or the server stays unreachable; the
 * reason of `signal` when it aborts.
 */
export async function followTurn(link: Link, turn: FollowedTurn, signal: AbortSignal): Promise<TurnEnd> {
  for (;;) {
    signal.throwIfAborted();
    const before = turn.position.at;
    const end = await link.askPatiently((client) => readSome(client, turn, signal), signal);
    if (end) return end;
    // The server closed the stream in an orderly way: it is stopping, or we read too slowly. Pause if nothing was read.
    if (turn.position.at === before) await Bun.sleep(PAUSE_MS);
  }
}

type Client = Parameters<Parameters<Link["ask"]>[0]>[0];

/** Reads events until the connection ends. @returns undefined when the turn has not ended by then. */
async function readSome(client: Client, turn: FollowedTurn, signal: AbortSignal): Promise<TurnEnd | undefined> {
  const { chatId, position, messageId } = turn;
  const before = position.at;
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  try {
    for await (const event of client.events(`/v1/events/stream?session_id=${chatId}&after=${before}`, either)) {
      const { kind, data } = event;
      // The server left out events for a slow reader. If we made progress, reconnect: the log still has the missing
      // events.
      if (kind === "gap") return position.at > before ? undefined : await skipLost(client, turn);
      await turn.take(event);
      position.at = event.id ?? position.at;
      if (kind === "turn_ended" && (messageId === undefined || data["message_id"] === messageId)) return endOf(data);
      if (kind === "session_ended") throw createEndedProblem();
    }
  } catch (error) {
    if (!isAway(error) || position.at === before) throw error;
  } finally {
    done.abort();
  }
  signal.throwIfAborted();
  return undefined;
}

/** The log no longer has the missing events, so the server's state says whether the turn has ended, and how. */
async function skipLost(client: Client, { chatId, position, messageId, take }: FollowedTurn) {
  const { status, reply, last_activity_at } = await client.call("GET", `${pathOf(chatId)}?limit=1`);
  position.at = reply.last_event_id;
  if (status === "ended") throw createEndedProblem();
  await take({ id: position.at, kind: "activity", at: last_activity_at, data: { title: LOST_WORDS } });
  if (status === "busy") return undefined;
  const query = `session_id=${chatId}&kinds=turn_ended&limit=50`;
  const { items } = await client.call("GET", `/v1/events?${query}`);
  const ended = items.find(({ data }) => messageId === undefined || data["message_id"] === messageId);
  return ended ? endOf(ended.data) : readStoredEnd(client, chatId, last_activity_at);
}

/** The log no longer has the turn's end either, but the server still knows how the chat's last turn ended. */
async function readStoredEnd(client: Client, chatId: string, endedAt: string): Promise<TurnEnd> {
  const [from, to] = [-NEAR_MS, NEAR_MS].map((ms) => new Date(Date.parse(endedAt) + ms).toISOString());
  const { items } = await client.call("GET", `/v1/lifecycle/day?from=${from}&to=${to}`);
  const status = items.findLast(({ session_id }) => session_id === chatId)?.status;
  if (status === "succeeded" || status === "cancelled") return { status };
  const message =
    status === "failed"
      ? "The reply failed. The reason is no longer in the event log: send the message again."
      : "Whether the reply is complete is no longer in the event log: see the chat in the dashboard.";
  return { status: "failed", error: { code: "reply_failed", message } };
}

function endOf(data: SkepEvent["data"]): TurnEnd {
  const { status, error } = data;
  if (status === "cancelled") return { status };
  if (status !== "failed") return { status: "succeeded" };
  const { code, message } = membersOf(error);
  return { status, error: { code: String(code), message: String(message ?? "The reply failed.") } };
}
