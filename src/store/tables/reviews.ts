/** What people say of the lines that a run changed. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { runs } from "./runs.ts";

export const runComments = sqliteTable("run_comments", {
  id: text().primaryKey(),
  run_id: text()
    .notNull()
    .references(() => runs.id, { onDelete: "cascade" }),
  path: text().notNull(),
  /** From 1, in the file as it is on that side; null: the file as a whole. */
  line: integer(),
  /** `new`: as the run left the file; `old`: as it was before. */
  side: text().$type<"new" | "old">().notNull(),
  /** The line's text when it was commented. */
  quote: text(),
  body: text().notNull(),
  created_by: text(),
  created_at: text().notNull(),
  /** When the run was sent back with it. */
  sent_at: text(),
});
