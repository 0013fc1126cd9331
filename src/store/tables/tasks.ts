/** Tasks of projects, what they depend on, what happened to them, and the stages that work of a kind goes through. */
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const tasks = sqliteTable(
  "tasks",
  {
    id: text().primaryKey(),
    project_id: text().notNull(),
    title: text().notNull(),
    description: text().notNull(),
    status: text().notNull(),
    /** Status to go back to when what blocks it is gone; null unless it was blocked by a rule. */
    blocked_from: text(),
    /** 0 (p0, first) to 3. */
    priority: integer().notNull(),
    work_type: text(),
    assigned_agent: text(),
    /** ms since the epoch; null: nobody has claimed it. */
    lease_until: integer(),
    parent_id: text(),
    discovered_from: text(),
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
  },
  (t) => [
    index("tasks_order").on(t.project_id, t.position, t.id),
    index("tasks_status").on(t.project_id, t.status, t.position, t.id),
    index("tasks_ready").on(t.project_id, t.priority, t.position, t.id),
    index("tasks_parent").on(t.parent_id),
    index("tasks_run").on(t.run_id),
    index("tasks_lease").on(t.lease_until),
  ],
);

export const taskDependencies = sqliteTable(
  "task_dependencies",
  { task_id: text().notNull(), depends_on: text().notNull() },
  (t) => [primaryKey({ columns: [t.task_id, t.depends_on] }), index("task_dependencies_of").on(t.depends_on)],
);

export const taskHistory = sqliteTable(
  "task_history",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    task_id: text().notNull(),
    at: text().notNull(),
    /** Who did it: a user's id, an execution, `rule` for what follows from another change. */
    actor: text().notNull(),
    change: text().notNull(),
    from_status: text(),
    to_status: text(),
    note: text(),
  },
  (t) => [index("task_history_task").on(t.task_id, t.id)],
);

export interface StageRow {
  stage: string;
  disposition: "required" | "optional" | "skip";
  agent_id?: string;
  pipeline_id?: string;
}

export const workflowPolicies = sqliteTable("workflow_policies", {
  project_id: text().primaryKey(),
  rules: text({ mode: "json" }).$type<Record<string, StageRow[]>>().notNull(),
  wait_for_merge: integer({ mode: "boolean" }).notNull(),
  updated_at: text().notNull(),
});
