/** A notification as it is shown. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull } from "../../core/schema.ts";

const Time = t.String({ format: "date-time" });

const NotificationLevel = oneOf("info", "warning", "error");
export const Notification = t.Object({
  id: t.String(),
  level: NotificationLevel,
  title: t.String(),
  detail: orNull(t.String()),
  times: t.Integer({ description: "How often the notification was raised." }),
  created_at: Time,
  updated_at: Time,
  dismissed_at: orNull(Time),
});
export type Notification = Static<typeof Notification>;
