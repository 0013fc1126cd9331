/** Executions (sessions): whatever one agent does, of any kind, with its transcript and tool calls. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export type ExecutionStatus = "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";

export interface RowError {
  code: string;
  message: string;
}

/** What an execution must give when it completes. */
export interface OutputContract {
  /** Names that `complete` must give. */
  outputs: string[];
  /** JSON Schema that the outputs must meet. */
  schema: Record<string, unknown> | null;
}

export const executions = sqliteTable("executions", {
  id: text().primaryKey(),
  kind: text().notNull(),
  agent_id: text().notNull(),
  status: text().$type<ExecutionStatus>().notNull(),
  run_id: text(),
  /** Row id of the step (`step_…`). */
  step_row_id: text(),
  /** Name of the step in its pipeline. */
  step_id: text(),
  project_id: text(),
  task_id: text(),
  user_id: text(),
  /** Asked for; the one used is in `model`. */
  wanted_model: text(),
  model: text(),
  prompt: text().notNull(),
  /** Assembled at the first start and kept, so that a resumed execution goes on under the same words. */
  system: text(),
  contract: text({ mode: "json" }).$type<OutputContract>().notNull(),
  skills: text({ mode: "json" }).$type<string[]>().notNull(),
  timeout_seconds: integer().notNull(),
  /** Process that works on it; whoever holds the data folder's lock knows any other to be dead. */
  lease_owner: text(),
  /** Not taken up before this time, ms since the epoch (back-off). */
  not_before: integer().notNull(),
  cancel_requested: integer({ mode: "boolean" }).notNull(),
  turns: integer().notNull(),
  cost_nano: integer().notNull(),
  tokens: integer().notNull(),
  outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  /** Last text of the agent. */
  text: text().notNull(),
  error: text({ mode: "json" }).$type<RowError | null>(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
});

export const messages = sqliteTable(
  "messages",
  {
    execution_id: text()
      .notNull()
      .references(() => executions.id, { onDelete: "cascade" }),
    /** From 0, without gap. */
    seq: integer().notNull(),
    id: text().notNull(),
    /** `summary` stands for every message before it. */
    role: text().$type<"user" | "assistant" | "summary">().notNull(),
    /** The text of a user or summary message, or the assistant's parts. */
    content: text({ mode: "json" }).notNull(),
    created_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.execution_id, t.seq] })],
);

export const toolCalls = sqliteTable(
  "tool_calls",
  {
    execution_id: text()
      .notNull()
      .references(() => executions.id, { onDelete: "cascade" }),
    /** The assistant message that asked for it. */
    seq: integer().notNull(),
    position: integer().notNull(),
    call_id: text().notNull(),
    tool: text().notNull(),
    input: text({ mode: "json" }).notNull(),
    status: text().$type<"requested" | "running" | "done" | "interrupted">().notNull(),
    ok: integer({ mode: "boolean" }),
    output: text(),
    /** Set when this call ended the execution. */
    ending: text({ mode: "json" }),
    started_at: text(),
    finished_at: text(),
    duration_ms: integer(),
  },
  (t) => [primaryKey({ columns: [t.execution_id, t.seq, t.position] })],
);
