/** /v1/chat/sessions. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import type { SkepEvent } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf } from "../../core/schema.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";
import type { EventStreams } from "../../http/event-stream.ts";
import { listOf, PageQuery, pageOf, queryInteger } from "../../http/list.ts";
import { stillHolds } from "../../http/standing.ts";
import { Job } from "../jobs/model.ts";
import {
  ChatCreate,
  ChatDetail,
  ChatSend,
  ChatSent,
  ChatSession,
  ChatUpdate,
  MessageChoice,
  QueuedMessage,
} from "./model.ts";
import { chatAsMarkdown } from "./present.ts";
import type { Chats } from "./service.ts";

const tags = ["chat"];
const SessionPath = t.Object({ id: t.String() });
const MessagePath = t.Object({ id: t.String(), message_id: t.String() });
const locationOf = ({ id }: { id: string }) => `/v1/chat/sessions/${id}`;

export interface ChatRoutesDeps {
  chats: Chats;
  streams: EventStreams;
  /** Id of the newest event. */
  lastEvent(): number;
}

export function chatRoutes(base: Base, { chats, streams, lastEvent }: ChatRoutesDeps) {
  /** Events of the session until the turn that answers the message has ended, or the session has. */
  const turnStream = (sessionId: string, messageId: string, after: number, caller: Caller): Response =>
    streams.open({
      filter: { session_id: sessionId },
      after,
      mayRead: () => true,
      stillValid: () => stillHolds(caller),
      isLast: ({ kind, data }: SkepEvent) =>
        (kind === "turn_ended" && data["message_id"] === messageId) || kind === "session_ended",
    });
  return new Elysia({ name: "skep/chat" })
    .use(base)
    .use(messageRoutes(base, chats))
    .get("/v1/chat/sessions", ({ query, caller }) => chats.list(query, pageOf(query), caller), {
      access: "user",
      query: t.Object({
        ...PageQuery,
        status: t.Optional(oneOf("active", "ended", "all")),
        agent_id: t.Optional(t.String({ maxLength: 64 })),
      }),
      response: { 200: listOf(ChatSession) },
      detail: { tags, summary: "Your chats, newest first; those that are open unless asked otherwise" },
    })
    .post(
      "/v1/chat/sessions",
      ({ body, caller, answer }) => answer.created(locationOf, () => chats.create(body, caller)),
      {
        access: "user",
        body: ChatCreate,
        response: { 201: ChatSession },
        detail: { tags, summary: "Start a chat with an agent" },
      },
    )
    .get(
      "/v1/chat/sessions/:id",
      ({ params, query, caller }) =>
        chats.detail(params.id, { limit: Math.min(query.limit ?? 100, LIMITS.listMax), before: query.before }, caller),
      {
        access: "user",
        params: SessionPath,
        query: t.Object({
          limit: t.Optional(queryInteger({ minimum: 1, description: "Messages; default 100, at most 200." })),
          before: t.Optional(queryInteger({ minimum: 0, description: "`seq` of the message before which they end." })),
        }),
        response: { 200: ChatDetail },
        detail: { tags, summary: "A chat with its newest messages" },
      },
    )
    .put("/v1/chat/sessions/:id", ({ params, body, caller }) => chats.update(params.id, body, caller), {
      access: "user",
      params: SessionPath,
      body: ChatUpdate,
      response: { 200: ChatSession },
      detail: { tags, summary: "Change the title, or the model of the replies to come" },
    })
    .delete(
      "/v1/chat/sessions/:id",
      ({ params, query, caller, set }) => {
        chats.end(params.id, query.purge ?? false, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: SessionPath,
        query: t.Object({ purge: t.Optional(elysia.BooleanString({ description: "Removes what was said as well." })) }),
        response: { 204: t.Void() },
        detail: { tags, summary: "End a chat; its history stays unless it is purged" },
      },
    )
    .post(
      "/v1/chat/sessions/:id/message",
      ({ params, query, body, caller, answer }) => {
        const after = lastEvent();
        if (query.stream) {
          const { message_id } = chats.send(params.id, body, caller);
          return turnStream(params.id, message_id, after, caller);
        }
        return answer.accepted(
          ({ session_id }) => `/v1/chat/sessions/${session_id}`,
          () => chats.send(params.id, body, caller),
        );
      },
      {
        access: "user",
        params: SessionPath,
        query: t.Object({
          stream: t.Optional(elysia.BooleanString({ description: "Answers with the turn as events." })),
        }),
        body: ChatSend,
        response: { 202: ChatSent },
        detail: { tags, summary: "Say something; the reply comes as events" },
      },
    )
    .post("/v1/chat/sessions/:id/stop", ({ params, caller }) => chats.stop(params.id, caller), {
      access: "user",
      params: SessionPath,
      response: { 200: ChatSession },
      detail: { tags, summary: "Stop the running reply and keep what was said" },
    })
    .post(
      "/v1/chat/sessions/:id/rewind",
      ({ params, body, caller }) => chats.rewind(params.id, body.message_id, caller),
      {
        access: "user",
        params: SessionPath,
        body: MessageChoice,
        response: { 200: ChatSession },
        detail: { tags, summary: "Take back a message and all after it" },
      },
    )
    .post(
      "/v1/chat/sessions/:id/fork",
      ({ params, body, caller, answer }) =>
        answer.created(locationOf, () => chats.fork(params.id, body.message_id, caller)),
      {
        access: "user",
        params: SessionPath,
        body: MessageChoice,
        response: { 201: ChatSession },
        detail: { tags, summary: "Start another chat with everything up to a message" },
      },
    )
    .post(
      "/v1/chat/sessions/:id/compact",
      ({ params, caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => chats.compact(params.id, caller),
        ),
      {
        access: "user",
        params: SessionPath,
        response: { 202: Job },
        detail: { tags, summary: "Have the model read a summary of what was said, as a background job" },
      },
    )
    .get(
      "/v1/chat/sessions/:id/export",
      ({ params, query, caller }) => {
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
      {
        access: "user",
        params: SessionPath,
        query: t.Object({ format: t.Optional(oneOf("markdown", "json")) }),
        detail: {
          tags,
          summary: "The whole chat as a file",
          responses: {
            200: {
              description: "Everything that was said, what was taken back or summarised too.",
              content: {
                "text/markdown": { schema: { type: "string" as const } },
                "application/json": { schema: { type: "object" as const } },
              },
            },
          },
        },
      },
    );
}

/** Messages that wait for their turn. */
function messageRoutes(base: Base, chats: Chats) {
  return new Elysia({ name: "skep/chat-queue" })
    .use(base)
    .get(
      "/v1/chat/sessions/:id/queue",
      ({ params, caller }) => ({ items: chats.queued(params.id, caller), next_cursor: null }),
      {
        access: "user",
        params: SessionPath,
        response: { 200: listOf(QueuedMessage) },
        detail: { tags, summary: "Messages that wait for their turn, in order" },
      },
    )
    .put(
      "/v1/chat/sessions/:id/queue/:message_id",
      ({ params, body, caller }) => chats.edit(params.id, params.message_id, body.message, caller),
      {
        access: "user",
        params: MessagePath,
        body: t.Object({ message: t.String({ minLength: 1, maxLength: LIMITS.textCharacters }) }),
        response: { 200: QueuedMessage },
        detail: { tags, summary: "Change a message that waits" },
      },
    )
    .delete(
      "/v1/chat/sessions/:id/queue/:message_id",
      ({ params, caller, set }) => {
        chats.withdraw(params.id, params.message_id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: MessagePath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Withdraw a message that waits" },
      },
    );
}
