/** One row per model call, and which budget notices were given. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const llmCalls = sqliteTable("llm_calls", {
  id: text().primaryKey(),
  agent_id: text().notNull(),
  run_id: text(),
  step_id: text(),
  session_id: text(),
  project_id: text(),
  user_id: text(),
  /** `turn`, `summary`, `embedding`, …: what the call was for. */
  purpose: text().notNull(),
  provider: text().notNull(),
  model: text().notNull(),
  key_source: text().$type<"user" | "instance" | "env" | "none">().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cache_read_tokens: integer().notNull(),
  cache_write_tokens: integer().notNull(),
  reasoning_tokens: integer().notNull(),
  /** Estimated from the texts: the provider gave no counts, or impossible ones. */
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

/** What was announced once: scope, subject, period, limit and kind, joined. */
export const budgetNotices = sqliteTable("budget_notices", { key: text().primaryKey(), created_at: text().notNull() });

const sums = {
  calls: integer().notNull(),
  errors: integer().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cache_read_tokens: integer().notNull(),
  cache_write_tokens: integer().notNull(),
  reasoning_tokens: integer().notNull(),
  /** Of the calls whose price is known, billionths of a US dollar. */
  cost_nano: integer().notNull(),
  calls_without_price: integer().notNull(),
};

/** What a day's calls add up to. Kept when the calls themselves are removed. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    /** `2026-05-01`, UTC. */
    day: text().notNull(),
    /** `nobody` where the calls belong to no user. */
    user_id: text().notNull(),
    agent_id: text().notNull(),
    provider: text().notNull(),
    model: text().notNull(),
    ...sums,
  },
  (t) => [primaryKey({ columns: [t.day, t.user_id, t.agent_id, t.provider, t.model] })],
);

/** What an hour's calls add up to. */
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

/** What a day's calls add up to for each project. */
export const usageProjects = sqliteTable(
  "usage_projects",
  {
    day: text().notNull(),
    /** `nobody` where the calls belong to no user. */
    user_id: text().notNull(),
    /** Empty where a call belongs to none. */
    project_id: text().notNull(),
    calls: integer().notNull(),
    cost_nano: integer().notNull(),
    calls_without_price: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.user_id, t.project_id] })],
);
