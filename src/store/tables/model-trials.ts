/** Trials that found out what models can do. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

export interface ModelTrialResult {
  model: string;
  tried_at: string;
  /** Context window that is really served, in tokens. */
  context_window: number | null;
  answers: Found;
  /** Whether its text is streamed in pieces. */
  streams: boolean;
  tools: Found;
  images: Found;
  /** Whether it found a word at the far end of a prompt that fills nine tenths of its window. */
  needle: Found;
  reasoning: boolean;
  calls: number;
  /** Cost of all calls; null: the price is unknown. */
  cost_usd: number | null;
  duration_ms: number;
  time_to_first_token_ms: number | null;
}

interface Found {
  /** Null: not tried. */
  ok: boolean | null;
  detail: string | null;
}

/** The latest trial of each model. */
export const modelTrials = sqliteTable("model_trials", {
  model: text().primaryKey(),
  result: text({ mode: "json" }).$type<ModelTrialResult>().notNull(),
});
