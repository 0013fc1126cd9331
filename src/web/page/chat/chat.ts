/** A chat on the screen: its messages page by page, and the text of the running reply. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import type { ApiPath } from "../../kit/change.ts";
import type { LiveEvent } from "../../live/connection.ts";
import { onLive } from "../../live/stream.ts";

export type Chat = Schemas["ChatSession"];
export type Message = Chat["messages"][number];

const PAGE = 60;

export function useChat(id: string) {
  const query = useInfiniteQuery({
    queryKey: ["get", "/v1/chat/sessions/{id}", { params: { path: { id } }, pages: true }],
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page: Chat) => (page.earlier ? page.messages[0]?.seq : undefined),
    queryFn: ({ pageParam: before, signal }) => {
      const query = { limit: PAGE, ...(before === undefined ? {} : { before }) };
      return must(client.GET("/v1/chat/sessions/{id}", { params: { path: { id }, query }, signal }));
    },
  });
  const pages = query.data?.pages ?? [];
  return { ...query, chat: pages[0], messages: pages.toReversed().flatMap(({ messages }) => messages) };
}

type TurnEnd = Schemas["LoggedEvent"]["data"];

interface Talk {
  sessionId: string | undefined;
  busy: boolean;
  last_activity_at: string | undefined;
}

/** How the newest reply ended. Undefined while a reply is under way, and if the event log no longer says it. */
export function useLastEnd({ sessionId, busy, last_activity_at }: Talk): TurnEnd | undefined {
  const query = { session_id: sessionId ?? "", kinds: "turn_ended", limit: 1 };
  const isQuiet = sessionId !== undefined && !busy;
  const { data } = useQuery({
    queryKey: ["get", "/v1/events", { params: { query } }, last_activity_at],
    queryFn: ({ signal }) => must(client.GET("/v1/events", { params: { query }, signal })),
    enabled: isQuiet,
  });
  return isQuiet ? data?.items[0]?.data : undefined;
}

export const CHAT_PATHS: ApiPath[] = ["/v1/chat/sessions"];
export const refreshChat = () => refresh(...CHAT_PATHS);

export interface Reply {
  text: string;
  thinking: string;
}

const ASK_AGAIN_MS = 120;
/** Least time between two updates of the reply on the screen, in ms. */
const PAINT_MS = 60;

/**
 * The text of the running reply: what the server returned with the chat, plus the events after it. When a piece of text
 * is complete (a tool call begins, or the reply ends), the chat is fetched again and contains that text as a message.
 * @param id id of the session.
 */
export function useReply(id: string, given: Chat["reply"] | undefined, askAgain: () => unknown): Reply {
  const [shown, setShown] = useState<Reply>({ text: "", thinking: "" });
  const state = useRef<{ base: Reply; last: number; later: LiveEvent[] }>({
    base: { text: "", thinking: "" },
    last: -1,
    later: [],
  });
  const paint = useRef<() => void>(() => {});
  paint.current = () => {
    const { base, last, later } = state.current;
    const next = { ...base };
    for (const { id: at, kind, data } of later) {
      if (at <= last || data["call_id"] !== undefined) continue;
      next[kind === "agent_output" ? "text" : "thinking"] += String(data["text"] ?? "");
    }
    setShown((old) => (old.text === next.text && old.thinking === next.thinking ? old : next));
  };
  const again = useRef(askAgain);
  again.current = askAgain;
  // A layout effect runs before the page is painted, so that text that has become a message is never shown twice.
  useLayoutEffect(() => {
    if (!given || given.last_event_id < state.current.last) return;
    const { text, thinking, last_event_id } = given;
    const later = state.current.later.filter(({ id: at }) => at > last_event_id);
    state.current = { base: { text, thinking }, last: last_event_id, later };
    paint.current();
  }, [given]);
  useEffect(() => {
    let asking: ReturnType<typeof setTimeout> | undefined;
    let painting: ReturnType<typeof setTimeout> | undefined;
    const stop = onLive((event) => {
      const { kind, session_id } = event;
      if (kind !== "gap" && session_id !== id) return;
      if (kind === "agent_output" || kind === "agent_thinking") {
        state.current.later.push(event);
        painting ??= setTimeout(() => {
          painting = undefined;
          paint.current();
        }, PAINT_MS);
        return;
      }
      if (kind === "output_withdrawn") {
        state.current = { base: { text: "", thinking: "" }, last: event.id, later: [] };
        paint.current();
        return;
      }
      asking ??= setTimeout(() => {
        asking = undefined;
        again.current();
      }, ASK_AGAIN_MS);
    });
    return () => {
      stop();
      clearTimeout(asking);
      clearTimeout(painting);
    };
  }, [id]);
  return shown;
}
