/** Settings objects that administrators edit, by name. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

export const settings = sqliteTable("settings", {
  name: text().primaryKey(),
  /** Only what was set; defaults are added when it is read. */
  value: text({ mode: "json" }).$type<unknown>().notNull(),
  updated_at: text().notNull(),
  updated_by: text().notNull(),
});
