/** Routines of agents, and the times (ticks) at which they were due. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Blackout, Schedule } from "../../core/schedule.ts";
import { partOf } from "./part-of.ts";

export type TickStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "missed" | "skipped";

export const pulseRoutines = sqliteTable("pulse_routines", {
  id: text().primaryKey(),
  agent_id: text().notNull(),
  /** The user that it works for; null: the local administrator. */
  user_id: text(),
  project_id: text(),
  name: text().notNull(),
  description: text(),
  instructions: text().notNull(),
  schedule: text({ mode: "json" }).$type<Schedule>().notNull(),
  timezone: text().notNull(),
  blackouts: text({ mode: "json" }).$type<Blackout[]>().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  /** Why the server switched the routine off; null: it did not. */
  stopped: text(),
  max_concurrent: integer().notNull(),
  timeout_seconds: integer(),
  model: text(),
  tools: text({ mode: "json" }).$type<string[]>(),
  /** The next tick, ms since the epoch; null while the routine is off. */
  planned_at: integer(),
  runs: integer().notNull(),
  last_run_at: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

export const pulseTicks = sqliteTable("pulse_ticks", {
  id: text().primaryKey(),
  routine_id: partOf(() => pulseRoutines.id),
  /** Milliseconds since the epoch. */
  due_at: integer().notNull(),
  cause: text().$type<"schedule" | "manual">().notNull(),
  /** True when it ran later than planned because the server was not running. */
  caught_up: integer({ mode: "boolean" }).notNull(),
  status: text().$type<TickStatus>().notNull(),
  /** Why it was skipped, was missed, or failed. */
  reason_code: text(),
  reason: text(),
  summary: text(),
  session_id: text(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
});
