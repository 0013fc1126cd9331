/** Configuration of model providers, and people's own keys. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export interface StoredModel {
  id: string;
  name?: string | undefined;
  context_window?: number | null | undefined;
  max_output_tokens?: number | null | undefined;
  input_usd_per_mtok?: number | null | undefined;
  output_usd_per_mtok?: number | null | undefined;
  reasoning?: boolean | undefined;
  tools?: boolean | undefined;
  images?: boolean | undefined;
}

/** What a server reports about a model; null when it does not say. */
export interface SeenModel {
  id: string;
  name: string;
  /** The context window that it serves. */
  context_window: number | null;
  /** The largest context window that the model supports. */
  max_context_window?: number | null;
  tools: boolean | null;
  reasoning: boolean | null;
  images?: boolean | null;
}

export const providers = sqliteTable("providers", {
  id: text().primaryKey(),
  name: text(),
  kind: text().$type<"anthropic" | "openai" | "google" | "openai-compatible" | "ollama">(),
  base_url: text(),
  enabled: integer({ mode: "boolean" }).notNull(),
  /** base64(nonce ‖ tag ‖ ciphertext). */
  sealed_key: text(),
  masked_key: text(),
  /** The address that the key was entered for; it is sent to no other. */
  key_base_url: text(),
  /** Entries that an administrator made. */
  models: text({ mode: "json" }).$type<StoredModel[]>().notNull(),
  /** What the server listed when it was last asked. */
  seen_models: text({ mode: "json" }).$type<SeenModel[]>().notNull(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

/** Owner of personal keys while no credentials are required. */
export const LOCAL_USER = "local";

export const userProviderKeys = sqliteTable(
  "user_provider_keys",
  {
    user_id: text().notNull(),
    provider_id: text().notNull(),
    sealed_key: text().notNull(),
    masked_key: text().notNull(),
    key_base_url: text().notNull(),
    created_at: text().notNull(),
    updated_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.provider_id] })],
);

/** People's log-ins at the vendors of external agents. */
export const harnessLogins = sqliteTable(
  "harness_logins",
  {
    user_id: text().notNull(),
    harness: text().notNull(),
    sealed_login: text().notNull(),
    masked_login: text().notNull(),
    /** Agents that may use the log-in; `*`: every agent that the person starts. */
    agents: text({ mode: "json" }).$type<string[]>().notNull(),
    created_at: text().notNull(),
    updated_at: text().notNull(),
    last_used_at: text(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.harness] })],
);
