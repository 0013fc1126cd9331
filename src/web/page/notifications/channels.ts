/** Names for kinds of notification channels and for what they do. */
import type { Schemas } from "../../api/client.ts";

export type Channel = Schemas["NotificationChannel"];

export type LinkCode = Schemas["LinkCode"];

export const KINDS: Record<Channel["kind"], string> = {
  messenger: "Messenger",
  push: "Browser",
  ntfy: "ntfy topic",
  gotify: "Gotify",
  apprise: "Apprise",
  webhook: "Webhook",
  mail: "Mail",
};
export const TRIGGERS: Record<Channel["on"][number], string> = {
  waiting: "it waits",
  failed: "it failed",
  ended: "it ended",
};
