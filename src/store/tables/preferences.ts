/** What the dashboard remembers for a person. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { users } from "./accounts.ts";

export const preferences = sqliteTable("preferences", {
  /** Null: the local administrator. */
  user_id: text().references(() => users.id, { onDelete: "cascade" }),
  name: text().notNull(),
  value: text({ mode: "json" }).$type<unknown>().notNull(),
  updated_at: text().notNull(),
});
