/** Background jobs, one row each, from request to end. */
import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { JOB_STATES } from "../../core/jobs.ts";

export const jobs = sqliteTable("jobs", {
  id: text().primaryKey(),
  kind: text().notNull(),
  state: text({ enum: JOB_STATES }).notNull(),
  payload: text({ mode: "json" }).$type<unknown>().notNull(),
  /** A request with the key of an unfinished job returns that job instead of adding another. */
  key: text(),
  /** Jobs of one kind with the same value run one after another. */
  exclusive: text(),
  /** Jobs with a higher priority run first. */
  priority: integer().notNull(),
  /** Earliest start, ms since the epoch. */
  run_at: integer().notNull(),
  /** Number of attempts that failed. */
  failures: integer().notNull(),
  /** Number of attempts that ended with the server's process. */
  interruptions: integer().notNull(),
  cancel_requested: integer({ mode: "boolean" }).notNull(),
  /** 0–100, or null while it is unknown. */
  percent: real(),
  detail: text(),
  /** Further facts for this kind of job. */
  progress: text({ mode: "json" }).$type<Record<string, unknown>>(),
  /** What it works on, e.g. an image name. */
  subject: text(),
  result: text({ mode: "json" }).$type<Record<string, unknown>>(),
  error_code: text(),
  error_message: text(),
  user_id: text(),
  project_id: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  finished_at: text(),
});
