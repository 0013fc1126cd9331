/** Swarms and their tasks. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { type RowError, sessions } from "./sessions.ts";

export type SwarmStatus = "running" | "succeeded" | "failed" | "cancelled";
export type SwarmTaskStatus = "pending" | "ready" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";

export const swarms = sqliteTable("swarms", {
  /** The id of its session, with another prefix. */
  id: text().primaryKey(),
  /** The swarm's session. No agent works in it: it owns the budget, and the tasks' sessions are below it. */
  session_id: partOf(() => sessions.id),
  status: text().$type<SwarmStatus>().notNull(),
  /**
   * Set while the swarm is being ended: no task begins, and the swarm gets this status once its running tasks have
   * stopped.
   */
  stop: text().$type<"failed" | "cancelled">(),
  error: text({ mode: "json" }).$type<RowError | null>(),
  max_concurrent: integer().notNull(),
  /** Number of tasks in the longest dependency chain. */
  max_depth: integer().notNull(),
  on_failure: text().$type<"skip_dependents" | "cancel_all">().notNull(),
  timeout_seconds: integer().notNull(),
  /** Milliseconds since the epoch. */
  deadline_at: integer().notNull(),
  created_at: text().notNull(),
  finished_at: text(),
});

export const swarmTasks = sqliteTable(
  "swarm_tasks",
  {
    swarm_id: partOf(() => swarms.id),
    /** Position in the request, from 0. */
    position: integer().notNull(),
    key: text().notNull(),
    title: text().notNull(),
    prompt: text().notNull(),
    agent_id: text().notNull(),
    model: text(),
    timeout_seconds: integer(),
    /** Keys of other tasks. */
    depends_on: text({ mode: "json" }).$type<string[]>().notNull(),
    /** `ready` with a session means that it waits for a free slot of the server. */
    status: text().$type<SwarmTaskStatus>().notNull(),
    session_id: text(),
    /** Why the task has no session, or did not succeed. */
    error: text({ mode: "json" }).$type<RowError | null>(),
    started_at: text(),
    finished_at: text(),
  },
  (t) => [primaryKey({ columns: [t.swarm_id, t.position] })],
);
