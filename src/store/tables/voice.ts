/** Agents' own voice settings, and every request for speech. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const agentTtsSettings = sqliteTable("agent_tts_settings", {
  agent_id: text().primaryKey(),
  /** The settings that the agent overrides. */
  own: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  updated_at: text().notNull(),
});

export const ttsCalls = sqliteTable("tts_calls", {
  id: text().primaryKey(),
  agent_id: text().notNull(),
  user_id: text(),
  provider: text().notNull(),
  voice_id: text(),
  characters: integer().notNull(),
  bytes: integer().notNull(),
  /** Billionths of a US dollar; null when unknown. */
  cost_nano: integer(),
  cached: integer({ mode: "boolean" }).notNull(),
  duration_ms: integer().notNull(),
  error: text({ mode: "json" }).$type<{ code: string; message: string } | null>(),
  created_at: text().notNull(),
});
