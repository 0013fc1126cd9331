/** Deletions of history under way, and what is kept from them. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";

export const deletions = sqliteTable("deletions", {
  id: text().primaryKey(),
  kind: text().$type<"run" | "session" | "project" | "user" | "age">().notNull(),
  /** Id of the run, session, project or user; null: of many. */
  subject: text(),
  /** As in the audit log. */
  actor: text().notNull(),
  /** Null: it waits, and may still be cancelled. */
  begun_at: text(),
  created_at: text().notNull(),
});

export const deletionItems = sqliteTable(
  "deletion_items",
  {
    deletion_id: partOf(() => deletions.id),
    kind: text().$type<"run" | "session" | "content" | "clone">().notNull(),
    /** Of the run, session or project; digest of the content. */
    id: text().notNull(),
    project_id: text(),
    done: integer({ mode: "boolean" }).notNull().default(false),
  },
  (row) => [primaryKey({ columns: [row.deletion_id, row.kind, row.id] })],
);

export const keptHistory = sqliteTable("kept_history", {
  /** Of the run or the session. */
  id: text().primaryKey(),
  kept_by: text(),
  kept_at: text().notNull(),
});
