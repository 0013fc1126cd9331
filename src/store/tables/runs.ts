/** Runs and the steps of each, every attempt a row. */
import { index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { RowError } from "./sessions.ts";

export const runs = sqliteTable(
  "runs",
  {
    id: text().primaryKey(),
    pipeline_id: text().notNull(),
    /** The definition as it was when the run was made. */
    definition: text({ mode: "json" }).notNull(),
    task_description: text().notNull(),
    human_context: text(),
    inputs: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    model: text(),
    project_id: text(),
    project_name: text(),
    task_id: text(),
    status: text().notNull(),
    outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    error: text({ mode: "json" }).$type<(RowError & { step_id?: string }) | null>(),
    branch: text(),
    created_by: text(),
    /** The run's own budget, USD; null: its pipeline's, else the settings'. */
    budget_usd: real(),
    /** Step from which the last restart went on. */
    restarted_from: text(),
    created_at: text().notNull(),
    started_at: text(),
    finished_at: text(),
  },
  (t) => [
    index("runs_pipeline").on(t.pipeline_id, t.id),
    index("runs_status").on(t.status),
    index("runs_project").on(t.project_id, t.id),
  ],
);

export const steps = sqliteTable(
  "steps",
  {
    id: text().primaryKey(),
    run_id: text().notNull(),
    step_id: text().notNull(),
    /** Order of making within the run, from 0. */
    position: integer().notNull(),
    /** Position in a for_each, else null. */
    item_index: integer(),
    attempt: integer().notNull(),
    max_attempts: integer().notNull(),
    visit: integer().notNull(),
    status: text().notNull(),
    agent_id: text(),
    inputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    text: text().notNull(),
    error: text({ mode: "json" }).$type<RowError | null>(),
    model: text(),
    /** The attempts of one visit share a session; each is an execution of it. */
    session_id: text(),
    execution_id: text(),
    /** Superseded by a restart or a step back: kept for reading, not counted by the planner. */
    superseded: integer({ mode: "boolean" }).notNull(),
    data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    created_at: text().notNull(),
    started_at: text(),
    finished_at: text(),
  },
  (t) => [index("steps_run").on(t.run_id, t.position)],
);
