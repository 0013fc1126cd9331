/** Files that people attach to messages, and the sessions that hold them. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { sessions } from "./sessions.ts";

export const attachments = sqliteTable("attachments", {
  id: text().primaryKey(),
  /** The user it belongs to; null: the local administrator. */
  user_id: text(),
  filename: text().notNull(),
  media_type: text().notNull(),
  size_bytes: integer().notNull(),
  /** Hexadecimal; also the file's name in the content store. */
  sha256: text().notNull(),
  text_available: integer({ mode: "boolean" }).notNull(),
  created_at: text().notNull(),
  status: text().$type<"processing" | "ready" | "failed">().notNull().default("ready"),
  error: text(),
  /** Digest of the extracted text in the content store; null: the file is text itself, or there is none. */
  text_sha256: text(),
});

export const attachmentHolds = sqliteTable(
  "attachment_holds",
  {
    attachment_id: partOf(() => attachments.id),
    session_id: partOf(() => sessions.id),
  },
  (t) => [primaryKey({ columns: [t.attachment_id, t.session_id] })],
);
