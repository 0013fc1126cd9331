/** Deletions of history in progress, and what is protected from them. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";

export const deletions = sqliteTable("deletions", {
  id: text().primaryKey(),
  kind: text().$type<"run" | "session" | "project" | "user" | "age">().notNull(),
  /** Id of the run, session, project or user; null: the deletion is about many. */
  subject: text(),
  /** As in the audit log. */
  actor: text().notNull(),
  /** Null: the deletion is waiting and can still be cancelled. */
  begun_at: text(),
  created_at: text().notNull(),
});

export const deletionItems = sqliteTable(
  "deletion_items",
  {
    deletion_id: partOf(() => deletions.id),
    kind: text().$type<"run" | "session" | "content" | "clone">().notNull(),
    /** Id of the run, session or project, or digest of the content. */
    id: text().notNull(),
    project_id: text(),
    done: integer({ mode: "boolean" }).notNull().default(false),
  },
  (row) => [primaryKey({ columns: [row.deletion_id, row.kind, row.id] })],
);

export const keptHistory = sqliteTable("kept_history", {
  /** Id of the run or session. */
  id: text().primaryKey(),
  kept_by: text(),
  kept_at: text().notNull(),
});
