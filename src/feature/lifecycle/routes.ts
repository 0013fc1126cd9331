/** /v1/lifecycle. */

import { Type as t } from "@sinclair/typebox";
import { Time } from "../../core/schema.ts";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { AgentDay, LiveSession, TimelineItem, TimelineKind } from "./model.ts";
import type { Lifecycle } from "./service.ts";

export function lifecycleRoutes(lifecycle: Lifecycle) {
  return tagOperations("lifecycle", [
    defineOperation("listLifecycleTimeline", "GET /v1/lifecycle/timeline", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        agent_id: t.Optional(t.String({ maxLength: 64 })),
        kind: t.Optional(TimelineKind),
        since: t.Optional(Time),
      }),
      answer: listOf(TimelineItem),
      summary: "List what agents did, newest first",
      handler: ({ query, caller }) => lifecycle.timeline(query, pageOf(query), caller),
    }),
    defineOperation("getLifecycleDay", "GET /v1/lifecycle/day", {
      access: "user",
      query: t.Object({
        from: t.Optional(
          t.String({ maxLength: 40, description: "Start of the range in RFC 3339; by default a day before `to`." }),
        ),
        to: t.Optional(
          t.String({
            maxLength: 40,
            description: "End of the range in RFC 3339, at most 31 days after `from`; by default now.",
          }),
        ),
      }),
      answer: AgentDay,
      summary: "List when each agent was at work",
      handler: ({ query, caller }) => lifecycle.day(query, caller),
    }),
    defineOperation("listLifecycleSessions", "GET /v1/lifecycle/sessions", {
      access: "user",
      ...pagesOf(LiveSession),
      summary: "List the live sessions of every kind, with their containers",
      handler: ({ query, caller }) => lifecycle.sessions(pageOf(query), caller),
    }),
  ]);
}
