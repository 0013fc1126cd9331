/** Apps of steps that can be looked at, and pictures of them. */
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { runs } from "./runs.ts";

/** A row goes when its sandbox does. */
export const previews = sqliteTable("previews", {
  id: text().primaryKey(),
  run_id: partOf(() => runs.id),
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

/** Made in the sandbox when the step ended. */
export const screenshots = sqliteTable("screenshots", {
  id: text().primaryKey(),
  run_id: partOf(() => runs.id),
  /** Name of the step. */
  step_id: text().notNull(),
  execution_id: text().notNull(),
  /** The page that it shows. */
  path: text().notNull(),
  width: integer().notNull(),
  height: integer().notNull(),
  size_bytes: integer().notNull(),
  created_at: text().notNull(),
  png: blob({ mode: "buffer" }).notNull(),
});
