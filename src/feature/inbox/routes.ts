/** /v1/agents/{id}/inbox. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { AgentMessage } from "./model.ts";
import type { Inbox } from "./service.ts";

export function inboxRoutes(base: Base, inbox: Inbox) {
  return new Elysia({ name: "skep/inbox" })
    .use(base)
    .get(
      "/v1/agents/:id/inbox",
      ({ params, query, caller }) => inbox.list(params.id, { unread: query.unread }, pageOf(query), caller),
      {
        access: "user",
        params: t.Object({ id: t.String() }),
        query: t.Object({
          ...PageQuery,
          unread: t.Optional(elysia.BooleanString({ description: "Only what the agent has, or has not, read yet." })),
        }),
        response: { 200: listOf(AgentMessage) },
        detail: { tags: ["agents"], summary: "What other agents wrote to this one in your work, newest first" },
      },
    );
}
