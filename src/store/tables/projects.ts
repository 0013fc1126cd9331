/** Projects and the state of their workspaces. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

type ProjectStatus = "active" | "paused" | "archived";
export type WorkspaceState = "none" | "cloning" | "ready" | "failed";

type FetchBeforeRun = "try" | "require" | "never";

interface BoardColumn {
  id: string;
  name: string;
  statuses: string[];
  /** The most tasks in the column at once; null: no limit. */
  wip_limit: number | null;
}

export const projects = sqliteTable("projects", {
  id: text().primaryKey(),
  /** Unique, ignoring case. */
  name: text().notNull(),
  description: text().notNull(),
  /** URL without credentials, or an absolute path; null for a project without a repository. */
  repository: text(),
  default_branch: text(),
  default_pipeline_id: text(),
  /** Command line whose exit code says whether the code works. */
  check: text("check_command"),
  status: text().$type<ProjectStatus>().notNull(),
  vision: text(),
  /** Why its description and vision may be outside text, as a sentence; null: a person wrote or confirmed them. */
  outside: text(),
  /** Columns of the task board; null: the shipped ones. */
  columns: text({ mode: "json" }).$type<BoardColumn[]>(),
  workspace_state: text().$type<WorkspaceState>().notNull(),
  workspace_error: text(),
  /** Commit from which new runs start. */
  workspace_head: text(),
  /** Path of a SCIP index in the repository, for the code graph. */
  scip_path: text(),
  /** Whether the clone is updated before a run: a failure is noted (`try`), or fails the run (`require`). */
  fetch_before_run: text().$type<FetchBeforeRun>().notNull().default("try"),
  fetched_at: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});
