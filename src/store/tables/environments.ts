/** Environments of projects' code, as accepted by a person. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const projectEnvironments = sqliteTable("project_environments", {
  project_id: partOf(() => projects.id).primaryKey(),
  /** JSON of an `Environment`. */
  definition: text().notNull(),
  /** Hash of the repository's proposal that was accepted; null: a person wrote the environment. */
  proposal_hash: text(),
  accepted_at: text().notNull(),
  /** JSON of an `AcceptedDockerfile`; null: the definition names no Dockerfile. */
  dockerfile: text(),
});
