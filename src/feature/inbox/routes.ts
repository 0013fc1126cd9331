/** /v1/agents/{id}/inbox. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import { AgentMessage } from "./model.ts";
import type { Inbox } from "./service.ts";

export function inboxRoutes(inbox: Inbox) {
  return tagOperations("agents", [
    defineOperation("listAgentInbox", "GET /v1/agents/:id/inbox", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        unread: t.Optional(
          queryBoolean({
            description:
              "Whether to list only messages that the agent has not read yet, or only those that it has read.",
          }),
        ),
      }),
      answer: listOf(AgentMessage),
      summary: "List the messages that other agents wrote to this agent in your work, newest first",
      handler: ({ params, query, caller }) => inbox.list(params.id, { unread: query.unread }, pageOf(query), caller),
    }),
  ]);
}
