/** Runs and their steps; every attempt of a step is a row. */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { RUN_STATUSES, STEP_STATUSES } from "../../core/run-states.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { RunError, StepError } from "../../engine/pipeline/rows.ts";
import { partOf } from "./part-of.ts";

/** Definitions of pipelines; each text is stored once. */
export const runDefinitions = sqliteTable("run_definitions", {
  /** Digest of the text. */
  id: text().primaryKey(),
  definition: text({ mode: "json" }).$type<PipelineDefinition>().notNull(),
});

export const runs = sqliteTable("runs", {
  id: text().primaryKey(),
  pipeline_id: text().notNull(),
  /** The definition as it was when the run was created. */
  definition_id: text().notNull(),
  task_description: text().notNull(),
  human_context: text(),
  inputs: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
  model: text(),
  project_id: text(),
  project_name: text(),
  task_id: text(),
  status: text({ enum: RUN_STATUSES }).notNull(),
  outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  error: text({ mode: "json" }).$type<RunError | null>(),
  branch: text(),
  /** Commit where its branch began. */
  base_commit: text(),
  /** Why its project could not be updated before the run. */
  workspace_notice: text(),
  /** The last merge: the resulting commit of the target, the target, and the merged commit of the run's branch. */
  merged_commit: text(),
  merged_into: text(),
  merged_head: text(),
  created_by: text(),
  /** Limit for its cost in USD, from the run or its pipeline; null: as in the settings. */
  budget_usd: real(),
  /**
   * Cost of its model calls in billionths of a dollar, and tokens. The database keeps both equal to the sums of its
   * executions.
   */
  cost_nano: integer().notNull().default(0),
  tokens: integer().notNull().default(0),
  /** Step from which the last restart began. */
  restarted_from: text(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
  /** The database increases it with each change of an ended run, or of its steps. */
  version: integer().notNull().default(0),
  /** Which outside text the run has read or was made from, as a sentence; null: none. */
  outside: text(),
  /** Number of its model calls without a known price; maintained like `cost_nano`. */
  calls_without_price: integer().notNull().default(0),
});

/** The trace that a run belongs to, if its caller named one. */
export const runTraces = sqliteTable("run_traces", {
  run_id: partOf(() => runs.id).primaryKey(),
  /** In the format of the `traceparent` header. */
  traceparent: text().notNull(),
});

export const steps = sqliteTable("steps", {
  id: text().primaryKey(),
  run_id: partOf(() => runs.id),
  step_id: text().notNull(),
  /** Order of creation within the run, from 0. */
  position: integer().notNull(),
  /** Position in a for_each; null otherwise. */
  item_index: integer(),
  attempt: integer().notNull(),
  max_attempts: integer().notNull(),
  visit: integer().notNull(),
  status: text({ enum: STEP_STATUSES }).notNull(),
  agent_id: text(),
  inputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  text: text().notNull(),
  error: text({ mode: "json" }).$type<StepError | null>(),
  model: text(),
  /** All attempts of one visit share a session; each attempt is an execution in it. */
  session_id: text(),
  execution_id: text(),
  /** Dropped by a restart or by going back: it can be read, but the planner does not count it. */
  superseded: integer({ mode: "boolean" }).notNull(),
  /** When a person's time to answer ends, ms since the epoch. */
  deadline: integer(),
  data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
});

/** Runs in which an agent worked on a step; the database adds a row with each step. */
export const runAgents = sqliteTable(
  "run_agents",
  {
    agent_id: text().notNull(),
    run_id: partOf(() => runs.id),
  },
  (t) => [primaryKey({ columns: [t.agent_id, t.run_id] })],
);

export const agentTotals = sqliteTable("agent_totals", { agent_id: text().primaryKey(), runs: integer().notNull() });

/** Row ids of runs in the index of their texts; the database adds a row with each run. */
export const runTexts = sqliteTable("run_texts", {
  id: integer().primaryKey(),
  run_id: partOf(() => runs.id),
  created_by: text(),
});

/** How a day's runs ended, and their total cost; the database maintains it with each run. */
export const runDays = sqliteTable(
  "run_days",
  {
    /** `2026-05-01`, UTC. */
    day: text().notNull(),
    /** `nobody` for runs without a user. */
    user_id: text().notNull(),
    succeeded: integer().notNull(),
    failed: integer().notNull(),
    cancelled: integer().notNull(),
    cost_nano: integer().notNull(),
    calls_without_price: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.user_id] })],
);
