/** /v1/agents/{id}/inbox. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import { AgentMessage } from "./model.ts";
import type { Inbox } from "./service.ts";

export function inboxRoutes(inbox: Inbox) {
  return operations("agents", [
    operation("listAgentInbox", "GET /v1/agents/:id/inbox", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        unread: t.Optional(queryBoolean({ description: "Only what the agent has, or has not, read yet." })),
      }),
      answer: listOf(AgentMessage),
      summary: "What other agents wrote to this one in your work, newest first",
      handler: ({ params, query, caller }) => inbox.list(params.id, { unread: query.unread }, pageOf(query), caller),
    }),
  ]);
}
