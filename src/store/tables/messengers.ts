/** Messenger bots, the people who answer through them, and the questions they are asked. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { notificationChannels, notificationDeliveries } from "./notification-channels.ts";
import { partOf } from "./part-of.ts";

export const messengers = sqliteTable("messengers", {
  id: text().primaryKey(),
  kind: text({ enum: ["telegram", "slack", "discord", "matrix"] }).notNull(),
  name: text().notNull(),
  /** Where the bot is, in a form that may be shown. */
  target: text().notNull(),
  /** Address and tokens as JSON, sealed. */
  sealed: text().notNull(),
  /** Digest of kind and token, because only one poller may read a bot. */
  token_hash: text().notNull(),
  /** The bot's name in the messenger, once it was looked up. */
  account: text(),
  enabled: integer({ mode: "boolean" }).notNull(),
  /** Position where reading continues. Stored together with the effects of what was read. */
  cursor: text(),
  last_error: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

export const messengerUpdates = sqliteTable("messenger_updates", {
  /** The messenger's id, a colon, and the id of the update. */
  id: text().primaryKey(),
  messenger_id: partOf(() => messengers.id),
  at: text().notNull(),
});

export const notificationLinks = sqliteTable("notification_links", {
  channel_id: partOf(() => notificationChannels.id).primaryKey(),
  /** Null: an ntfy topic, whose button presses come back over HTTP. */
  messenger_id: text().references(() => messengers.id, { onDelete: "cascade" }),
  /** Digest of the code that links a chat, until the code is used. */
  code_hash: text(),
  code_expires_at: text(),
  chat: text(),
  sender: text(),
  sender_name: text(),
  linked_at: text(),
});

export const notificationQuestions = sqliteTable("notification_questions", {
  id: text().primaryKey(),
  channel_id: partOf(() => notificationChannels.id),
  delivery_id: partOf(() => notificationDeliveries.id),
  kind: text({ enum: ["step", "permission"] }).notNull(),
  /** Id of the waiting step or request. */
  subject_id: text().notNull(),
  run_id: text(),
  /** The message's id in the messenger, once it was sent. */
  message: text(),
  /** How the question was settled; null while it waits. */
  outcome: text(),
  expires_at: text().notNull(),
  created_at: text().notNull(),
});

export const notificationButtons = sqliteTable("notification_buttons", {
  token_hash: text().primaryKey(),
  question_id: partOf(() => notificationQuestions.id),
  answer: text({ enum: ["yes", "no"] }).notNull(),
  used_at: text(),
});

/** Commands that people give through a bot: `/run`, which waits for a yes, and `/stop`. */
export const phoneCommands = sqliteTable("phone_commands", {
  id: text().primaryKey(),
  channel_id: partOf(() => notificationChannels.id),
  verb: text({ enum: ["run", "stop"] }).notNull(),
  pipeline_id: text(),
  project_id: text(),
  /** Cleared once there is an outcome. */
  task: text().notNull(),
  /** Id of the message that asks for the yes, once it was sent. */
  message: text(),
  yes_hash: text(),
  no_hash: text(),
  outcome: text(),
  run_id: text(),
  expires_at: text().notNull(),
  created_at: text().notNull(),
});
