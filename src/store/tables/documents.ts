/** Documents that people hand in to be read by their agents. Their sections and text are reached by SQL alone. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const documents = sqliteTable("documents", {
  id: text().primaryKey(),
  /** Whose it is; null is the local administrator. */
  user_id: text(),
  /** Of a project, all who see that read it; null: its user alone. */
  project_id: text().references(() => projects.id, { onDelete: "cascade" }),
  title: text().notNull(),
  /** By the person who handed it in, so what the file says of its title does not count. */
  title_given: integer({ mode: "boolean" }).notNull(),
  /** Name of the file, `text` or `transcript`. */
  source: text().notNull(),
  media_type: text().notNull(),
  size_bytes: integer().notNull(),
  /** The file in the store of contents. */
  sha256: text().notNull(),
  status: text().$type<"processing" | "ready" | "failed">().notNull(),
  error: text(),
  pages: integer(),
  sections: integer().notNull().default(0),
  chunks: integer().notNull().default(0),
  tokens: integer().notNull().default(0),
  job_id: text(),
  /** Of a transcript: the session that processes it. */
  session_id: text(),
  created_at: text().notNull(),
});
