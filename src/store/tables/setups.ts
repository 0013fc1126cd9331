/** What set-ups of projects' code left. */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const projectSetups = sqliteTable(
  "project_setups",
  {
    project_id: partOf(() => projects.id),
    /** Of everything that it depends on: image, command, variables, contents of lock files. */
    key: text().notNull(),
    /** Of what the environment says alone: sandboxes take the newest of the recipe that holds. */
    recipe: text().notNull(),
    state: text().$type<"ready" | "failed">().notNull(),
    /** Null: it failed, or there was nothing to set up. */
    image: text(),
    image_bytes: integer().notNull(),
    /** JSON: names of the images that the steps of a Dockerfile left. */
    steps: text().notNull().default("[]"),
    commit_id: text().notNull(),
    /** Null: it took too long, or wrote too much. */
    exit_code: integer(),
    log: text().notNull(),
    seconds: real().notNull(),
    made_at: text().notNull(),
    used_at: text().notNull(),
    check_command: text(),
    check_exit_code: integer(),
    check_log: text(),
    check_commit: text(),
    /** Fingerprint of the services that it ran beside. */
    check_beside: text(),
    /** Null: it was not run, or there is none. */
    checked_at: text(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.key] })],
);
