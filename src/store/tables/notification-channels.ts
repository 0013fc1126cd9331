/** Channels by which people are notified of runs, and what was sent there. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

/** The content of a notification, for every kind of channel. */
export interface NotificationMessage {
  title: string;
  text: string;
  /** URL of the run's page. */
  url: string | null;
  /** The run's status; `test` for a test. */
  status: string;
  pipeline_id: string | null;
  project_id: string | null;
}

export const notificationChannels = sqliteTable("notification_channels", {
  id: text().primaryKey(),
  /** Null: the local administrator. */
  owner_id: text(),
  name: text().notNull(),
  kind: text({ enum: ["ntfy", "gotify", "apprise", "messenger", "push", "webhook", "mail"] }).notNull(),
  whose: text({ enum: ["mine", "everyone"] }).notNull(),
  project_id: text().references(() => projects.id, { onDelete: "cascade" }),
  triggers: text({ mode: "json" }).$type<("waiting" | "failed" | "ended")[]>().notNull(),
  /** Where the channel leads, in a form that may be shown. */
  target: text().notNull(),
  /** Address, token and key as JSON, sealed: base64(nonce ‖ tag ‖ ciphertext). */
  sealed: text().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  last_sent_at: text(),
  last_error: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

export const notificationDeliveries = sqliteTable("notification_deliveries", {
  id: text().primaryKey(),
  channel_id: partOf(() => notificationChannels.id),
  /** Id of the event in the log; null for a test. */
  event_id: integer(),
  event: text().notNull(),
  run_id: text(),
  message: text({ mode: "json" }).$type<NotificationMessage>().notNull(),
  state: text({ enum: ["queued", "sent", "failed", "cancelled"] }).notNull(),
  attempts: integer().notNull(),
  error: text(),
  created_at: text().notNull(),
  finished_at: text(),
});

/** The newest event that was handled. */
export const notificationPosition = sqliteTable("notification_position", {
  id: integer().primaryKey(),
  event_id: integer().notNull(),
});
