/** Projects that are not everybody's, and who is a member of which project. */
import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ProjectRole } from "../../core/ownership.ts";
import { users } from "./accounts.ts";
import { partOf } from "./part-of.ts";

/** Without a row, a project is open to all accounts. */
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
    /** Of single sign-on, where a group of it made them a member. */
    provider: text(),
    created_at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.user_id] })],
);
