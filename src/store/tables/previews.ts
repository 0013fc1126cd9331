/** Apps of steps that people can open, and screenshots of them. */
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { runs } from "./runs.ts";

/** A row is deleted when its sandbox ends. */
export const previews = sqliteTable("previews", {
  id: text().primaryKey(),
  run_id: partOf(() => runs.id),
  /** Id of the step in its pipeline. */
  step_id: text().notNull(),
  execution_id: text().notNull(),
  /** Port on the sandbox's loopback interface. */
  port: integer().notNull(),
  /** Path of its first page. */
  path: text().notNull(),
  created_at: text().notNull(),
  /** Set once its step has ended: the app keeps running until then. */
  kept_until: text(),
});

/** Taken in the sandbox when the step ended. */
export const screenshots = sqliteTable("screenshots", {
  id: text().primaryKey(),
  run_id: partOf(() => runs.id),
  /** Id of the step in its pipeline. */
  step_id: text().notNull(),
  execution_id: text().notNull(),
  /** Path of the page that it shows. */
  path: text().notNull(),
  width: integer().notNull(),
  height: integer().notNull(),
  size_bytes: integer().notNull(),
  created_at: text().notNull(),
  png: blob({ mode: "buffer" }).notNull(),
});
