/** Model calls, one row each, and which budget notices were given. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const llmCalls = sqliteTable("llm_calls", {
  id: text().primaryKey(),
  agent_id: text().notNull(),
  run_id: text(),
  step_id: text(),
  session_id: text(),
  project_id: text(),
  user_id: text(),
  /** What the call was for: `turn`, `summary`, `embedding`, … */
  purpose: text().notNull(),
  provider: text().notNull(),
  model: text().notNull(),
  key_source: text().$type<"user" | "instance" | "env" | "none">().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cache_read_tokens: integer().notNull(),
  cache_write_tokens: integer().notNull(),
  reasoning_tokens: integer().notNull(),
  /** True when the counts were estimated from the texts because the provider gave none, or impossible ones. */
  estimated: integer({ mode: "boolean" }).notNull(),
  /** Billionths of a US dollar; null when the price is unknown. Whole numbers, so that sums are exact. */
  cost_nano: integer(),
  cost_source: text().$type<"table" | "provider" | "unknown">().notNull(),
  duration_ms: integer().notNull(),
  time_to_first_token_ms: integer(),
  attempts: integer().notNull(),
  finish_reason: text().notNull(),
  error_code: text(),
  error_message: text(),
  created_at: text().notNull(),
});

/** Notices that were given once; the key joins scope, subject, period, limit and kind. */
export const budgetNotices = sqliteTable("budget_notices", { key: text().primaryKey(), created_at: text().notNull() });

const sums = {
  calls: integer().notNull(),
  errors: integer().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cache_read_tokens: integer().notNull(),
  cache_write_tokens: integer().notNull(),
  reasoning_tokens: integer().notNull(),
  /** Cost in billionths of a US dollar of the calls with a known price. */
  cost_nano: integer().notNull(),
  calls_without_price: integer().notNull(),
};

/** Sums of a day's calls. They are kept when the calls themselves are removed. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    /** `2026-05-01`, UTC. */
    day: text().notNull(),
    /** `nobody` for calls without a user. */
    user_id: text().notNull(),
    agent_id: text().notNull(),
    provider: text().notNull(),
    model: text().notNull(),
    ...sums,
  },
  (t) => [primaryKey({ columns: [t.day, t.user_id, t.agent_id, t.provider, t.model] })],
);

/** Sums of an hour's calls. */
export const usageHours = sqliteTable(
  "usage_hours",
  {
    /** `2026-05-01T13`, UTC. */
    hour: text().notNull(),
    user_id: text().notNull(),
    ...sums,
  },
  (t) => [primaryKey({ columns: [t.hour, t.user_id] })],
);

/** Sums of a day's calls for each project. */
export const usageProjects = sqliteTable(
  "usage_projects",
  {
    day: text().notNull(),
    /** `nobody` for calls without a user. */
    user_id: text().notNull(),
    /** Empty for calls without a project. */
    project_id: text().notNull(),
    calls: integer().notNull(),
    cost_nano: integer().notNull(),
    calls_without_price: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.user_id, t.project_id] })],
);
