/** Projects and the state of their workspaces. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

type ProjectStatus = "active" | "paused" | "archived";
export type WorkspaceState = "none" | "cloning" | "ready" | "failed";

type FetchBeforeRun = "try" | "require" | "never";

interface BoardColumn {
  id: string;
  name: string;
  statuses: string[];
  /** Most tasks in it at once; null: no limit. */
  wip_limit: number | null;
}

export const projects = sqliteTable("projects", {
  id: text().primaryKey(),
  /** Unique without regard to case. */
  name: text().notNull(),
  description: text().notNull(),
  /** Address without credentials, or an absolute path; null for a project without one. */
  repository: text(),
  default_branch: text(),
  default_pipeline_id: text(),
  /** Command line that says by its exit code whether the code works. */
  check: text("check_command"),
  status: text().$type<ProjectStatus>().notNull(),
  vision: text(),
  /** Why its description and vision may be outside text, a sentence; null: a person wrote or confirmed them. */
  outside: text(),
  /** The board; null: the shipped one. */
  columns: text({ mode: "json" }).$type<BoardColumn[]>(),
  workspace_state: text().$type<WorkspaceState>().notNull(),
  workspace_error: text(),
  /** Commit that new runs start from. */
  workspace_head: text(),
  /** Whether the clone is brought up to date before a run: a failure is noted (`try`), or fails the run (`require`). */
  /** A SCIP index in the repository, for the code graph. */
  scip_path: text(),
  fetch_before_run: text().$type<FetchBeforeRun>().notNull().default("try"),
  fetched_at: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});
