/** Evals: tasks that agents attempt, each attempt a run, and the results. */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";

export const EVAL_STATUSES = ["running", "done", "cancelled"] as const;
/**
 * `error`: the attempt says nothing about the agent, e.g. its provider did not answer. `skipped`: the eval's budget was
 * used up.
 */
export const ATTEMPT_STATES = ["queued", "running", "passed", "failed", "error", "cancelled", "skipped"] as const;
/** Who works on a task: an agent, the reference solution, or nobody. */
export const WORKERS = ["agent", "solution", "nothing"] as const;

/** A task; its files are gzipped tars in base64. */
export interface PackedTask {
  instruction: string;
  project_name: string | null;
  commit: string | null;
  budget_usd: number | null;
  timeout_seconds: number;
  check_seconds: number;
  /** When true, the reward that the tests write decides, instead of their exit code. */
  reward?: boolean;
  workspace: string | null;
  tests: string;
  solution: string | null;
}

/** A model's reply in the form that scripts use. */
export interface RecordedTurn {
  text?: string;
  thinking?: string;
  tool_calls?: { tool: string; input?: Record<string, unknown> }[];
}

export const evals = sqliteTable("evals", {
  id: text().primaryKey(),
  name: text().notNull(),
  user_id: text(),
  mode: text({ enum: ["agents", "oracle"] }).notNull(),
  status: text({ enum: EVAL_STATUSES }).notNull(),
  /** Attempts of each combination at each task. */
  attempts: integer().notNull(),
  parallel: integer().notNull(),
  budget_usd: real(),
  replayed: integer({ mode: "boolean" }).notNull(),
  created_at: text().notNull(),
  finished_at: text(),
  /** Size of its tasks and recorded replies; maintained by triggers. */
  size_bytes: integer().notNull().default(0),
});

export const evalTasks = sqliteTable(
  "eval_tasks",
  {
    eval_id: partOf(() => evals.id),
    name: text().notNull(),
    task: text({ mode: "json" }).$type<PackedTask>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.eval_id, t.name] })],
);

export const evalAttempts = sqliteTable("eval_attempts", {
  id: text().primaryKey(),
  eval_id: partOf(() => evals.id),
  task: text().notNull(),
  worker: text({ enum: WORKERS }).notNull(),
  agent_id: text(),
  model: text(),
  harness: text(),
  /** From 1. */
  number: integer().notNull(),
  status: text({ enum: ATTEMPT_STATES }).notNull(),
  run_id: text(),
  /** Recorded replies that are replayed instead of asking a model. */
  turns: text({ mode: "json" }).$type<RecordedTurn[]>(),
  /** Why the attempt did not pass. */
  reason: text(),
  cost_nano: integer().notNull().default(0),
  calls_without_price: integer().notNull().default(0),
  tokens: integer().notNull().default(0),
  model_calls: integer().notNull().default(0),
  tool_errors: integer().notNull().default(0),
  /** Time spent on the work, without waiting for a free slot and without the check. */
  duration_ms: integer(),
  finished_at: text(),
});
