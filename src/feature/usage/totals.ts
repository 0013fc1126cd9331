/**
 * Running totals of model calls: by day for each user, agent, provider and model; by day for each user and project; by
 * hour for each user. Each combination has one row.
 */

import { keysOf } from "../../core/typed-keys.ts";
import type { Store } from "../../store/store.ts";
import type { LlmCallRow } from "./service.ts";

/** The columns that are summed, and what a call adds to each. */
export const COUNTED = {
  calls: "1",
  errors: "(error_code IS NOT NULL)",
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cache_read_tokens: "cache_read_tokens",
  cache_write_tokens: "cache_write_tokens",
  reasoning_tokens: "reasoning_tokens",
  cost_nano: "coalesce(cost_nano, 0)",
  calls_without_price: "(cost_nano IS NULL)",
} as const;
export type Counted = keyof typeof COUNTED;
export const COLUMNS = keysOf(COUNTED);

/** The user of calls that have no user; no real user has this id. */
export const NOBODY = "nobody";

const upsert = (table: string, keys: readonly string[], counted: readonly Counted[] = COLUMNS): string => `
  INSERT INTO ${table} (${[...keys, ...counted].join()}) VALUES (${[...keys, ...counted].map((name) => `@${name}`).join()})
  ON CONFLICT (${keys.join()}) DO UPDATE SET ${counted.map((name) => `${name} = ${name} + excluded.${name}`).join()}`;

const DAYS = upsert("usage_days", ["day", "user_id", "agent_id", "provider", "model"]);
const HOURS = upsert("usage_hours", ["hour", "user_id"]);
/** The project of calls that have no project. */
export const NO_PROJECT = "";
const PROJECTS = upsert(
  "usage_projects",
  ["day", "user_id", "project_id"],
  ["calls", "cost_nano", "calls_without_price"],
);

/** @returns a function that counts a call. Call it in the transaction that logs the call. */
export const createTotals =
  ({ statement }: Pick<Store, "statement">) =>
  (row: LlmCallRow): void => {
    const values = {
      day: row.created_at.slice(0, 10),
      hour: row.created_at.slice(0, 13),
      user_id: row.user_id ?? NOBODY,
      agent_id: row.agent_id,
      provider: row.provider,
      model: row.model,
      project_id: row.project_id ?? NO_PROJECT,
      calls: 1,
      errors: Number(row.error_code !== null),
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_read_tokens: row.cache_read_tokens,
      cache_write_tokens: row.cache_write_tokens,
      reasoning_tokens: row.reasoning_tokens,
      cost_nano: row.cost_nano ?? 0,
      calls_without_price: Number(row.cost_nano === null),
    };
    statement(DAYS).run(values);
    statement(HOURS).run(values);
    statement(PROJECTS).run(values);
  };
