import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { Notification } from "./model.ts";

export const notification = defineEvent(
  "notification",
  t.Object(Notification.properties, { description: "Something that needs a person's attention." }),
  { stale: ["/v1/admin/notifications"] },
);

export const notificationEvents = [notification] as const;
