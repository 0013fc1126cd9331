/** /v1/admin/notifications: what the system wants people to know. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Notification } from "./model.ts";
import type { Notifications } from "./service.ts";

const tags = ["admin"];

export function notificationRoutes(base: Base, notifications: Notifications) {
  return new Elysia({ name: "skep/notifications" })
    .use(base)
    .get(
      "/v1/admin/notifications",
      ({ query, caller }) => notifications.list(pageOf(query), caller, { dismissed: query.dismissed }),
      {
        access: "user",
        query: t.Object({
          ...PageQuery,
          dismissed: t.Optional(t.Boolean({ description: "Dismissed ones instead of open ones." })),
        }),
        response: { 200: listOf(Notification) },
        detail: {
          tags,
          summary: "Notifications",
          description: "Administrators see the system's and their own, users their own.",
        },
      },
    )
    .post("/v1/admin/notifications/:id/dismiss", ({ params, caller }) => notifications.dismiss(params.id, caller), {
      access: "user",
      params: t.Object({ id: t.String({ maxLength: 128 }) }),
      response: { 200: Notification },
      detail: { tags, summary: "Dismiss a notification" },
    });
}
