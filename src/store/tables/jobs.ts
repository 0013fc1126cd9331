/** Background jobs: a row each, from the wish to the end. */
import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

export const jobs = sqliteTable(
  "jobs",
  {
    id: text().primaryKey(),
    kind: text().notNull(),
    state: text().$type<"queued" | "running" | "succeeded" | "failed" | "cancelled">().notNull(),
    payload: text({ mode: "json" }).$type<unknown>().notNull(),
    /** Asked for again under the same key while it lives, it is the same job. */
    key: text(),
    /** Jobs of one kind with the same word run one after another. */
    exclusive: text(),
    /** Higher goes first. */
    priority: integer().notNull(),
    /** Not before, ms since the epoch. */
    run_at: integer().notNull(),
    /** Tries that failed. */
    failures: integer().notNull(),
    /** Tries that ended with the server's process. */
    interruptions: integer().notNull(),
    cancel_requested: integer({ mode: "boolean" }).notNull(),
    /** 0–100, or null while it cannot be told. */
    percent: real(),
    detail: text(),
    /** What its kind tells besides. */
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
  },
  (t) => [
    uniqueIndex("jobs_key").on(t.kind, t.key).where(sql`finished_at IS NULL AND key IS NOT NULL`),
    index("jobs_queued").on(t.kind, t.priority, t.run_at, t.id).where(sql`state = 'queued'`),
    index("jobs_due").on(t.run_at).where(sql`state = 'queued'`),
    index("jobs_unfinished").on(t.state).where(sql`finished_at IS NULL`),
    index("jobs_user").on(t.user_id, t.id).where(sql`user_id IS NOT NULL`),
    index("jobs_project").on(t.project_id, t.kind, t.id).where(sql`project_id IS NOT NULL`),
  ],
);
