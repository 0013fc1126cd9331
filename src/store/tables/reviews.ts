/** What people say about what a run or a session changed: users here, and reviewers on the code host. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";

export const changeComments = sqliteTable("change_comments", {
  id: text().primaryKey(),
  /** Either the run or the session made the change. */
  run_id: text().references(() => runs.id, { onDelete: "cascade" }),
  session_id: text().references(() => sessions.id, { onDelete: "cascade" }),
  /** Null: the change as a whole. */
  path: text(),
  /** From 1, in the file as it is on that side; null: the file as a whole. */
  line: integer(),
  /** `new`: as the work left the file; `old`: as it was before. */
  side: text().$type<"new" | "old">().notNull(),
  /** The line's text when it was commented. */
  quote: text(),
  body: text().notNull(),
  created_by: text(),
  /** Its author on the code host; null: it was written here. */
  codehost_login: text(),
  /** What the code host calls it, so that it is kept once. */
  codehost_id: text(),
  /** Where it is on the code host. */
  url: text(),
  created_at: text().notNull(),
  /** When the work was sent back with it. */
  sent_at: text(),
  /** What an agent answered to it. */
  answer: text(),
  /** Id of that agent. */
  answered_by: text(),
  answered_at: text(),
});
