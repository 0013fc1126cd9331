/** Projects with restricted access, and the members of projects. */
import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ProjectRole } from "../../core/ownership.ts";
import { users } from "./accounts.ts";
import { partOf } from "./part-of.ts";

/** A project without a row is open to all accounts. */
export const projectAccess = sqliteTable("project_access", {
  project_id: text().primaryKey(),
  access: text().$type<"members" | "personal">().notNull(),
});

export const projectMembers = sqliteTable(
  "project_members",
  {
    project_id: text().notNull(),
    user_id: partOf(() => users.id),
    role: text().$type<ProjectRole>().notNull(),
    source: text().$type<"hand" | "oidc">().notNull().default("hand"),
    added_by: text(),
    /** The single sign-on provider, when a group there made them a member. */
    provider: text(),
    created_at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.user_id] })],
);
