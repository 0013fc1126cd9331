/** /v1/admin/notifications: what the system wants people to know. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import { Notification } from "./model.ts";
import type { Notifications } from "./service.ts";

export function notificationRoutes(notifications: Notifications) {
  return tagOperations("admin", [
    defineOperation("listNotifications", "GET /v1/admin/notifications", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        dismissed: t.Optional(
          queryBoolean({ description: "Whether to list dismissed notifications instead of open ones." }),
        ),
      }),
      answer: listOf(Notification),
      summary: "List notifications",
      description: "Administrators see the system's notifications and their own. Users see their own.",
      handler: ({ query, caller }) => notifications.list(pageOf(query), caller, { dismissed: query.dismissed }),
    }),
    defineOperation("dismissNotification", "POST /v1/admin/notifications/:id/dismiss", {
      access: "user",
      params: t.Object({ id: t.String({ maxLength: 128 }) }),
      answer: Notification,
      summary: "Dismiss a notification",
      handler: ({ params, caller }) => notifications.dismiss(params.id, caller),
    }),
  ]);
}
