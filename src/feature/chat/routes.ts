/** /v1/chat/sessions. */

import { Type as t } from "@sinclair/typebox";
import type { SkepEvent } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import type { EventStreams } from "../../http/event-stream.ts";
import { listOf, PageQuery, pageOf, queryLimit } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean, queryInteger } from "../../http/schema.ts";
import { stillHolds } from "../../http/standing.ts";
import { Job } from "../jobs/model.ts";
import {
  ChatCreate,
  ChatDetail,
  ChatFork,
  ChatSend,
  ChatSent,
  ChatSession,
  ChatUpdate,
  MessageChoice,
  QueuedMessage,
} from "./model.ts";
import { chatAsMarkdown } from "./present.ts";
import type { Chats } from "./service.ts";

const LOCATION = "/v1/chat/sessions/:id";

interface ChatRoutesDeps {
  chats: Chats;
  streams: EventStreams;
  /** Id of the newest event. */
  lastEvent(): number;
}

export function chatRoutes({ chats, streams, lastEvent }: ChatRoutesDeps) {
  /** Streams the session's events until the turn that answers the message has ended, or the session has. */
  const turnStream = (sessionId: string, messageId: string, after: number, caller: Caller): Response =>
    streams.open({
      filter: { session_id: sessionId },
      after,
      mayRead: () => true,
      stillValid: () => stillHolds(caller),
      userId: caller.userId,
      isLast: ({ kind, data }: SkepEvent) =>
        (kind === "turn_ended" && data["message_id"] === messageId) || kind === "session_ended",
    });
  return tagOperations("chat", [
    defineOperation("listChatSessionQueue", "GET /v1/chat/sessions/:id/queue", {
      access: "user",
      answer: listOf(QueuedMessage),
      summary: "List the messages that wait for their turn, in order",
      handler: ({ params, caller }) => ({ items: chats.listQueued(params.id, caller), next_cursor: null }),
    }),
    defineOperation("updateChatSessionQueue", "PUT /v1/chat/sessions/:id/queue/:message_id", {
      access: "user",
      scope: "runs",
      body: t.Object({ message: t.String({ minLength: 1, maxLength: LIMITS.textCharacters }) }),
      answer: QueuedMessage,
      summary: "Change a waiting message",
      handler: ({ params, body, caller }) => chats.edit(params.id, params.message_id, body.message, caller),
    }),
    defineOperation("deleteChatSessionQueue", "DELETE /v1/chat/sessions/:id/queue/:message_id", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: 204,
      summary: "Withdraw a waiting message",
      handler: ({ params, caller }) => chats.withdraw(params.id, params.message_id, caller),
    }),
    defineOperation("listChatSessions", "GET /v1/chat/sessions", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        status: t.Optional(oneOf("active", "ended", "all")),
        agent_id: t.Optional(t.String({ maxLength: 64 })),
      }),
      answer: listOf(ChatSession),
      summary: "List your chats, newest first; only open ones by default",
      handler: ({ query, caller }) => chats.list(query, pageOf(query), caller),
    }),
    defineOperation("createChatSession", "POST /v1/chat/sessions", {
      access: "user",
      scope: "runs",
      body: ChatCreate,
      answer: { 201: ChatSession },
      summary: "Start a chat with an agent",
      handler: ({ body, caller, answer }) => answer.created(LOCATION, () => chats.create(body, caller)),
    }),
    defineOperation("getChatSession", "GET /v1/chat/sessions/:id", {
      access: "user",
      query: t.Object({
        limit: t.Optional(queryLimit(100, "Number of messages")),
        before: t.Optional(
          queryInteger({ minimum: 0, description: "`seq` of a message. Only messages before it are returned." }),
        ),
      }),
      answer: ChatDetail,
      summary: "Get a chat with its newest messages",
      handler: ({ params, query, caller }) =>
        chats.detail(params.id, { limit: query.limit ?? 100, before: query.before }, caller),
    }),
    defineOperation("updateChatSession", "PUT /v1/chat/sessions/:id", {
      access: "user",
      scope: "runs",
      body: ChatUpdate,
      answer: ChatSession,
      summary: "Change a chat's title, or the model of its next replies",
      handler: ({ params, body, caller }) => chats.update(params.id, body, caller),
    }),
    defineOperation("deleteChatSession", "DELETE /v1/chat/sessions/:id", {
      access: "user",
      project: "viewer",
      scope: "runs",
      query: t.Object({
        purge: t.Optional(queryBoolean({ description: "Whether to delete the messages of the chat as well." })),
      }),
      answer: 204,
      summary: "End a chat; its messages are kept unless you purge them",
      handler: ({ params, query, caller }) => chats.end(params.id, query.purge ?? false, caller),
    }),
    defineOperation("messageChatSession", "POST /v1/chat/sessions/:id/message", {
      access: "user",
      scope: "runs",
      query: t.Object({
        stream: t.Optional(queryBoolean({ description: "Whether to answer with the events of the turn as a stream." })),
      }),
      body: ChatSend,
      answer: { 202: ChatSent },
      summary: "Send a message; the reply arrives as events",
      handler: ({ params, query, body, caller, answer }) => {
        const after = lastEvent();
        if (query.stream) {
          const { message_id } = chats.send(params.id, body, caller);
          return turnStream(params.id, message_id, after, caller);
        }
        return answer.accepted("/v1/chat/sessions/:session_id", () => chats.send(params.id, body, caller));
      },
    }),
    defineOperation("stopChatSession", "POST /v1/chat/sessions/:id/stop", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: ChatSession,
      summary: "Stop the running reply and keep what was written so far",
      handler: ({ params, caller }) => chats.stop(params.id, caller),
    }),
    defineOperation("tryChatSessionNow", "POST /v1/chat/sessions/:id/try-now", {
      access: "user",
      scope: "runs",
      answer: ChatSession,
      summary: "Retry now a reply that waits for the provider's quota",
      handler: ({ params, caller }) => chats.tryNow(params.id, caller),
    }),
    ...transcriptRoutes(chats),
  ]);
}

/** Routes that work on the whole transcript. */
function transcriptRoutes(chats: Chats) {
  return tagOperations("chat", [
    defineOperation("rewindChatSession", "POST /v1/chat/sessions/:id/rewind", {
      access: "user",
      scope: "runs",
      body: MessageChoice,
      answer: ChatSession,
      summary: "Take back a message and all messages after it",
      handler: ({ params, body, caller }) => chats.rewind(params.id, body.message_id, caller),
    }),
    defineOperation("createChatSessionFork", "POST /v1/chat/sessions/:id/fork", {
      access: "user",
      scope: "runs",
      body: MessageChoice,
      answer: { 201: ChatFork },
      summary: "Start another chat with a copy of the messages up to a given one, and of the files",
      handler: ({ params, body, caller, answer }) =>
        answer.created(LOCATION, () => chats.fork(params.id, body.message_id, caller)),
    }),
    defineOperation("compactChatSession", "POST /v1/chat/sessions/:id/compact", {
      access: "user",
      scope: "runs",
      answer: { 202: Job },
      summary: "Have the model read a summary instead of the whole chat, as a background job",
      handler: ({ params, caller, answer }) => answer.accepted("/v1/jobs/:id", () => chats.compact(params.id, caller)),
    }),
    defineOperation("getChatSessionExport", "GET /v1/chat/sessions/:id/export", {
      access: "user",
      query: t.Object({ format: t.Optional(oneOf("markdown", "json")) }),
      summary: "Export a whole chat as a file",
      documented: {
        responses: {
          200: {
            description: "The whole chat, including messages that were taken back or summarized.",
            content: {
              "text/markdown": { schema: { type: "string" as const } },
              "application/json": { schema: { type: "object" as const } },
            },
          },
        },
      },
      handler: ({ params, query, caller }) => {
        const { chat, messages } = chats.all(params.id, caller);
        const markdown = (query.format ?? "markdown") === "markdown";
        const text = markdown ? chatAsMarkdown(chat, messages) : JSON.stringify({ ...chat, messages }, null, 2);
        const type = markdown ? "text/markdown" : "application/json";
        return new Response(text, {
          headers: {
            "Content-Type": `${type}; charset=utf-8`,
            "Content-Disposition": `attachment; filename="${chat.id}.${markdown ? "md" : "json"}"`,
          },
        });
      },
    }),
  ]);
}
