/** Index jobs of the code graph: what a row of `jobs` does not hold. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const indexJobs = sqliteTable("index_jobs", {
  job_id: text().primaryKey(),
  project_id: text().notNull(),
  force: integer({ mode: "boolean" }).notNull(),
  cause: text().$type<"request" | "workspace" | "resumed">().notNull(),
  /** Written when a phase begins or ends. */
  phases: text({ mode: "json" }).$type<unknown>().notNull(),
  /** By a person, so that the next start does not go on with it. */
  cancelled: integer({ mode: "boolean" }).notNull(),
});
