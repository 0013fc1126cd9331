/** Runs and the steps of each, every attempt a row. */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { RUN_STATUSES, STEP_STATUSES } from "../../core/run-states.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { RunError, StepError } from "../../engine/pipeline/rows.ts";
import { partOf } from "./part-of.ts";

/** Definitions of pipelines, each text once. */
export const runDefinitions = sqliteTable("run_definitions", {
  /** Digest of the text. */
  id: text().primaryKey(),
  definition: text({ mode: "json" }).$type<PipelineDefinition>().notNull(),
});

export const runs = sqliteTable("runs", {
  id: text().primaryKey(),
  pipeline_id: text().notNull(),
  /** The definition as it was when the run was made. */
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
  /** Commit that its branch began from. */
  base_commit: text(),
  /** Why its project could not be brought up to date before it. */
  workspace_notice: text(),
  /** The last merge: what the target became, the target, and the commit of its branch that was taken in. */
  merged_commit: text(),
  merged_into: text(),
  merged_head: text(),
  created_by: text(),
  /** What it may cost, USD, by itself or its pipeline; null: as the settings say. */
  budget_usd: real(),
  /** Of its model calls; the database keeps both in step with its executions. */
  cost_nano: integer().notNull().default(0),
  tokens: integer().notNull().default(0),
  /** Step from which the last restart continued. */
  restarted_from: text(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
  /** The database raises it with each change of a run that has ended, and of its steps. */
  version: integer().notNull().default(0),
  /** What outside text it has read or was made from, a sentence; null: none. */
  outside: text(),
  /** Of its model calls; kept as `cost_nano` is. */
  calls_without_price: integer().notNull().default(0),
});

/** The trace that a run belongs to where its caller named one. */
export const runTraces = sqliteTable("run_traces", {
  run_id: partOf(() => runs.id).primaryKey(),
  /** As the header `traceparent` writes it. */
  traceparent: text().notNull(),
});

export const steps = sqliteTable("steps", {
  id: text().primaryKey(),
  run_id: partOf(() => runs.id),
  step_id: text().notNull(),
  /** Order of making within the run, from 0. */
  position: integer().notNull(),
  /** Position in a for_each, else null. */
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
  /** The attempts of one visit share a session; each is an execution of it. */
  session_id: text(),
  execution_id: text(),
  /** Superseded by a restart or a step back: kept for reading, not counted by the planner. */
  superseded: integer({ mode: "boolean" }).notNull(),
  /** When a person's time to answer is over, ms since the epoch. */
  deadline: integer(),
  data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
});

/** In which runs an agent took a step; written by the database with each step. */
export const runAgents = sqliteTable(
  "run_agents",
  {
    agent_id: text().notNull(),
    run_id: partOf(() => runs.id),
  },
  (t) => [primaryKey({ columns: [t.agent_id, t.run_id] })],
);

export const agentTotals = sqliteTable("agent_totals", { agent_id: text().primaryKey(), runs: integer().notNull() });

/** The ids that runs have in the index of their texts; written by the database with each run. */
export const runTexts = sqliteTable("run_texts", {
  id: integer().primaryKey(),
  run_id: partOf(() => runs.id),
  created_by: text(),
});

/** How a day's runs ended, and what they have cost in all; kept by the database with each run. */
export const runDays = sqliteTable(
  "run_days",
  {
    /** `2026-05-01`, UTC. */
    day: text().notNull(),
    /** `nobody` where the runs belong to no user. */
    user_id: text().notNull(),
    succeeded: integer().notNull(),
    failed: integer().notNull(),
    cancelled: integer().notNull(),
    cost_nano: integer().notNull(),
    calls_without_price: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.user_id] })],
);
