/** Objects that administrators edit, by name, and background jobs. */
import { real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const settings = sqliteTable("settings", {
  name: text().primaryKey(),
  /** Only what was set; defaults are added when read. */
  value: text({ mode: "json" }).$type<unknown>().notNull(),
  updated_at: text().notNull(),
  updated_by: text().notNull(),
});

export const jobs = sqliteTable("jobs", {
  id: text().primaryKey(),
  kind: text().notNull(),
  state: text().$type<"queued" | "running" | "succeeded" | "failed" | "cancelled">().notNull(),
  /** 0–100, or null while it cannot be told. */
  percent: real(),
  detail: text(),
  /** What it works on, e.g. an image name. */
  subject: text(),
  result: text({ mode: "json" }).$type<Record<string, unknown>>(),
  error_code: text(),
  error_message: text(),
  user_id: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  finished_at: text(),
});
