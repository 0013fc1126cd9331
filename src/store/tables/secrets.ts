/** Secrets and their grants. */
import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";

interface SecretEdge {
  hosts: string[];
  header: string;
  prefix: string;
  methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")[] | undefined;
  path?: string | undefined;
}

export const secrets = sqliteTable("secrets", {
  id: text().primaryKey(),
  name: text().notNull().unique(),
  description: text().notNull(),
  secret_type: text().$type<"api_key" | "token" | "ssh_key" | "custom">().notNull(),
  /** base64(nonce ‖ tag ‖ ciphertext). */
  sealed: text().notNull(),
  masked_preview: text().notNull(),
  /** How the proxy inserts the secret into outgoing requests; null: agents get it as an environment variable. */
  edge: text({ mode: "json" }).$type<SecretEdge>(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  last_used_at: text(),
  /** `agent:ID`, or the part of the server that read it. */
  last_used_by: text(),
});

export const secretGrants = sqliteTable(
  "secret_grants",
  {
    secret_id: partOf(() => secrets.id),
    agent_id: text().notNull(),
    granted_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.secret_id, t.agent_id] })],
);

/** Replaced values. They are kept sealed for a while, so that they are still masked if an agent kept a copy. */
export const replacedSecrets = sqliteTable("replaced_secrets", {
  id: text().primaryKey(),
  secret_id: partOf(() => secrets.id),
  sealed: text().notNull(),
  replaced_at: text().notNull(),
});
