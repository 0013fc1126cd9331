/** Invitations to projects, by a token of which only the digest is stored. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ProjectRole } from "../../core/ownership.ts";
import { users } from "./accounts.ts";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const projectInvitations = sqliteTable("project_invitations", {
  id: text().primaryKey(),
  project_id: partOf(() => projects.id),
  role: text().$type<ProjectRole>().notNull(),
  hash: text().notNull().unique(),
  uses: integer().notNull().default(0),
  max_uses: integer().notNull(),
  created_by: partOf(() => users.id),
  created_at: text().notNull(),
  expires_at: text().notNull(),
  revoked_at: text(),
});
