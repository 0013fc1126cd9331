/** Environments of projects' code that a person accepted. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const projectEnvironments = sqliteTable("project_environments", {
  project_id: partOf(() => projects.id).primaryKey(),
  /** JSON of an `Environment`. */
  definition: text().notNull(),
  /** Of what the repository proposed when it was accepted; null: a person wrote it. */
  proposal_hash: text(),
  accepted_at: text().notNull(),
  /** JSON of an `AcceptedDockerfile`; null: the definition names none. */
  dockerfile: text(),
});
