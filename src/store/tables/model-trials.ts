/** What models were found to be able to. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

export interface ModelTrialResult {
  model: string;
  tried_at: string;
  /** Tokens that are served. */
  context_window: number | null;
  answers: Found;
  /** Its words come piece by piece. */
  streams: boolean;
  tools: Found;
  images: Found;
  /** Whether it found a word at the far end of a prompt of nine tenths of its window. */
  needle: Found;
  reasoning: boolean;
  calls: number;
  /** Of all calls; null: its price is unknown. */
  cost_usd: number | null;
  duration_ms: number;
  time_to_first_token_ms: number | null;
}

interface Found {
  /** Null: it was not tried. */
  ok: boolean | null;
  detail: string | null;
}

/** What the last trial of a model found. */
export const modelTrials = sqliteTable("model_trials", {
  model: text().primaryKey(),
  result: text({ mode: "json" }).$type<ModelTrialResult>().notNull(),
});
