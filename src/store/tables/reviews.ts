/** People's comments on the changes of a run or session: from users here, and from reviewers on the code host. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";

export const changeComments = sqliteTable("change_comments", {
  id: text().primaryKey(),
  /** Set when a run made the change; otherwise `session_id` is set. */
  run_id: text().references(() => runs.id, { onDelete: "cascade" }),
  session_id: text().references(() => sessions.id, { onDelete: "cascade" }),
  /** Null: the comment is about the whole change. */
  path: text(),
  /** Line number from 1 in the file of that side; null: the comment is about the whole file. */
  line: integer(),
  /** `new`: the file as the work left it; `old`: the file before. */
  side: text().$type<"new" | "old">().notNull(),
  /** Text of the line when the comment was made. */
  quote: text(),
  body: text().notNull(),
  created_by: text(),
  /** Author on the code host; null: the comment was written here. */
  codehost_login: text(),
  /** Id on the code host, so that the comment is stored only once. */
  codehost_id: text(),
  /** URL on the code host. */
  url: text(),
  created_at: text().notNull(),
  /** When the work was sent back with this comment. */
  sent_at: text(),
  /** An agent's answer to the comment. */
  answer: text(),
  /** Id of the agent that answered. */
  answered_by: text(),
  answered_at: text(),
});
