/** Documents that people upload for their agents to read. Their sections and text are only accessed by SQL. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const documents = sqliteTable("documents", {
  id: text().primaryKey(),
  /** The user it belongs to; null: the local administrator. */
  user_id: text(),
  /** With a project, everybody who sees the project can read it; null: only its user. */
  project_id: text().references(() => projects.id, { onDelete: "cascade" }),
  title: text().notNull(),
  /** True when the person who uploaded it gave the title; the title in the file is then ignored. */
  title_given: integer({ mode: "boolean" }).notNull(),
  /** The file's name, or `text` or `transcript`. */
  source: text().notNull(),
  media_type: text().notNull(),
  size_bytes: integer().notNull(),
  /** Digest of the file in the content store. */
  sha256: text().notNull(),
  status: text().$type<"processing" | "ready" | "failed">().notNull(),
  error: text(),
  pages: integer(),
  sections: integer().notNull().default(0),
  chunks: integer().notNull().default(0),
  tokens: integer().notNull().default(0),
  job_id: text(),
  /** For a transcript, the session that processes it. */
  session_id: text(),
  created_at: text().notNull(),
});
