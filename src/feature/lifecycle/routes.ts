/** /v1/lifecycle. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Time } from "../../core/schema.ts";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { LiveSession, TimelineItem, TimelineKind } from "./model.ts";
import type { Lifecycle } from "./service.ts";

const tags = ["lifecycle"];

export function lifecycleRoutes(base: Base, lifecycle: Lifecycle) {
  return new Elysia({ name: "skep/lifecycle" })
    .use(base)
    .get("/v1/lifecycle/timeline", ({ query, caller }) => lifecycle.timeline(query, pageOf(query), caller), {
      access: "user",
      query: t.Object({
        ...PageQuery,
        agent_id: t.Optional(t.String({ maxLength: 64 })),
        kind: t.Optional(TimelineKind),
        since: t.Optional(Time),
      }),
      response: { 200: listOf(TimelineItem) },
      detail: { tags, summary: "What agents did, newest first" },
    })
    .get("/v1/lifecycle/sessions", ({ query, caller }) => lifecycle.sessions(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(LiveSession) },
      detail: { tags, summary: "Sessions that are alive, of every kind, with their containers" },
    });
}
