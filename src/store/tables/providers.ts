/** What is configured for model providers, and people's own keys. */
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

/** What a server says of a model; null where it says nothing. */
export interface SeenModel {
  id: string;
  name: string;
  /** What it serves. */
  context_window: number | null;
  /** The most that the model can. */
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
  /** The address that the key was given for; it is used for no other. */
  key_base_url: text(),
  /** An administrator's own entries. */
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

/** Log-ins of people at the vendors of external agents. */
export const harnessLogins = sqliteTable(
  "harness_logins",
  {
    user_id: text().notNull(),
    harness: text().notNull(),
    sealed_login: text().notNull(),
    masked_login: text().notNull(),
    /** Agents that may work with it; `*`: each that the person starts. */
    agents: text({ mode: "json" }).$type<string[]>().notNull(),
    created_at: text().notNull(),
    updated_at: text().notNull(),
    last_used_at: text(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.harness] })],
);
