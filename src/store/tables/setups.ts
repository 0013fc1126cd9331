/** Results of the setups of projects' code. */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const projectSetups = sqliteTable(
  "project_setups",
  {
    project_id: partOf(() => projects.id),
    /** Hash of everything that the setup depends on: image, command, variables, contents of lock files. */
    key: text().notNull(),
    /** Hash of the environment's own description. Sandboxes use the newest setup that has the current recipe. */
    recipe: text().notNull(),
    state: text().$type<"ready" | "failed">().notNull(),
    /** Null: the setup failed, or there was nothing to set up. */
    image: text(),
    image_bytes: integer().notNull(),
    /** JSON list of the images that the steps of a Dockerfile produced. */
    steps: text().notNull().default("[]"),
    commit_id: text().notNull(),
    /** Null: the setup took too long, or wrote too much. */
    exit_code: integer(),
    log: text().notNull(),
    seconds: real().notNull(),
    made_at: text().notNull(),
    used_at: text().notNull(),
    check_command: text(),
    check_exit_code: integer(),
    check_log: text(),
    check_commit: text(),
    /** Fingerprint of the services that ran during the check. */
    check_beside: text(),
    /** Null: the check was not run, or there is none. */
    checked_at: text(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.key] })],
);
