/** Apps of steps that can be looked at; a row goes when its sandbox does. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { runs } from "./runs.ts";

export const previews = sqliteTable("previews", {
  id: text().primaryKey(),
  run_id: text()
    .notNull()
    .references(() => runs.id, { onDelete: "cascade" }),
  /** Name of the step. */
  step_id: text().notNull(),
  execution_id: text().notNull(),
  /** On the loopback of the sandbox. */
  port: integer().notNull(),
  /** Where its first page is. */
  path: text().notNull(),
  created_at: text().notNull(),
  /** Its step has ended, and the app runs on until then. */
  kept_until: text(),
});
