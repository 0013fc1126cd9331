/** Tasks of projects, their dependencies and history, and the stages that each type of work goes through. */
import { type AnySQLiteColumn, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const tasks = sqliteTable("tasks", {
  id: text().primaryKey(),
  project_id: partOf(() => projects.id),
  title: text().notNull(),
  description: text().notNull(),
  status: text().notNull(),
  /** Status to return to when nothing blocks the task any more; null unless a rule blocked it. */
  blocked_from: text(),
  /** 0 (p0, most urgent) to 3. */
  priority: integer().notNull(),
  work_type: text({
    enum: ["feature", "bugfix", "test", "refactor", "docs", "infrastructure", "design", "custom"],
  }),
  assigned_agent: text(),
  /** Milliseconds since the epoch; null: nobody has claimed the task. */
  lease_until: integer(),
  parent_id: text().references((): AnySQLiteColumn => tasks.id, { onDelete: "set null" }),
  discovered_from: text().references((): AnySQLiteColumn => tasks.id, { onDelete: "set null" }),
  tags: text({ mode: "json" }).$type<string[]>().notNull(),
  estimate_hours: real(),
  /** Sort key within its status, increasing; not unique. */
  position: integer().notNull(),
  branch: text(),
  run_id: text(),
  completed_stages: text({ mode: "json" }).$type<string[]>().notNull(),
  metadata: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  created_by: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  finished_at: text(),
  /** Why its texts may be outside text, as a sentence; null: a person wrote or confirmed them. */
  outside: text(),
  /** The run that claimed it, or else the root of the session tree; null: a person's claim. */
  claimed_by: text(),
});

export const taskDependencies = sqliteTable(
  "task_dependencies",
  {
    task_id: partOf(() => tasks.id),
    depends_on: partOf(() => tasks.id),
  },
  (t) => [primaryKey({ columns: [t.task_id, t.depends_on] })],
);

export const taskHistory = sqliteTable("task_history", {
  id: integer().primaryKey({ autoIncrement: true }),
  task_id: partOf(() => tasks.id),
  at: text().notNull(),
  /** Who changed it: a user's id, an execution, or `rule` for what follows from another change. */
  actor: text().notNull(),
  change: text().notNull(),
  from_status: text(),
  to_status: text(),
  note: text(),
});

interface StageRow {
  stage: string;
  disposition: "required" | "optional" | "skip";
  agent_id?: string;
  pipeline_id?: string;
}

export const workflowPolicies = sqliteTable("workflow_policies", {
  project_id: partOf(() => projects.id).primaryKey(),
  rules: text({ mode: "json" }).$type<Record<string, StageRow[]>>().notNull(),
  wait_for_merge: integer({ mode: "boolean" }).notNull(),
  updated_at: text().notNull(),
});

/** Row ids of tasks in the index of their texts; the database adds a row with each task. */
export const taskTexts = sqliteTable("task_texts", {
  id: integer().primaryKey(),
  task_id: partOf(() => tasks.id),
});
