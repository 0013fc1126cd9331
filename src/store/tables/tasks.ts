/** Tasks of projects, what they depend on, what happened to them, and the stages that work of a kind goes through. */
import { type AnySQLiteColumn, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";

export const tasks = sqliteTable("tasks", {
  id: text().primaryKey(),
  project_id: partOf(() => projects.id),
  title: text().notNull(),
  description: text().notNull(),
  status: text().notNull(),
  /** Status to go back to when what blocks it is gone; null unless it was blocked by a rule. */
  blocked_from: text(),
  /** 0 (p0, first) to 3. */
  priority: integer().notNull(),
  work_type: text({
    enum: ["feature", "bugfix", "test", "refactor", "docs", "infrastructure", "design", "custom"],
  }),
  assigned_agent: text(),
  /** ms since the epoch; null: nobody has claimed it. */
  lease_until: integer(),
  parent_id: text().references((): AnySQLiteColumn => tasks.id, { onDelete: "set null" }),
  discovered_from: text().references((): AnySQLiteColumn => tasks.id, { onDelete: "set null" }),
  tags: text({ mode: "json" }).$type<string[]>().notNull(),
  estimate_hours: real(),
  /** Order within its status, growing; not unique. */
  position: integer().notNull(),
  branch: text(),
  run_id: text(),
  completed_stages: text({ mode: "json" }).$type<string[]>().notNull(),
  metadata: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  created_by: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  finished_at: text(),
  /** Why its words may be outside text, a sentence; null: a person wrote or confirmed them. */
  outside: text(),
  /** The run whose claim it is, else the root of the tree of sessions; null: a person's. */
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
  /** Who did it: a user's id, an execution, `rule` for what follows from another change. */
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

/** The ids that tasks have in the index of their texts; written by the database with each task. */
export const taskTexts = sqliteTable("task_texts", {
  id: integer().primaryKey(),
  task_id: partOf(() => tasks.id),
});
