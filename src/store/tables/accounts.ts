/** Accounts: users, their sessions, keys, second factors, identities at providers, and the waitlist. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ProjectRole } from "../../core/ownership.ts";
import { partOf } from "./part-of.ts";

export type Role = "admin" | "user";

export const users = sqliteTable("users", {
  id: text().primaryKey(),
  /** Normalized by `normalEmail`. */
  email: text().notNull().unique(),
  display_name: text().notNull(),
  role: text().$type<Role>().notNull(),
  active: integer({ mode: "boolean" }).notNull(),
  /** argon2id in PHC format; null for accounts that only sign on through a provider. */
  password_hash: text(),
  totp_sealed: text(),
  totp_enabled: integer({ mode: "boolean" }).notNull(),
  /** Newest time step whose code was used; codes of the same or older steps are refused. */
  totp_last_step: integer().notNull(),
  last_login_at: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

const userId = () => partOf(() => users.id);

export const recoveryCodes = sqliteTable("recovery_codes", { user_id: userId(), hash: text().notNull() }, (t) => [
  primaryKey({ columns: [t.user_id, t.hash] }),
]);

/** Log-in sessions. Times are ms since the epoch. A revoked session is deleted, with its refresh tokens. */
export const authSessions = sqliteTable("auth_sessions", {
  id: text().primaryKey(),
  user_id: userId(),
  kind: text().$type<"bearer" | "cookie">().notNull(),
  cookie_hash: text().unique(),
  address: text(),
  user_agent: text(),
  oidc_slug: text(),
  id_token_sealed: text(),
  created_at: integer().notNull(),
  last_used_at: integer().notNull(),
  expires_at: integer().notNull(),
});

export const refreshTokens = sqliteTable("refresh_tokens", {
  hash: text().primaryKey(),
  session_id: partOf(() => authSessions.id),
  /** Set at the first use; a second use ends the session. */
  used_at: integer(),
  expires_at: integer().notNull(),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text().primaryKey(),
  user_id: userId(),
  name: text().notNull(),
  hash: text().notNull().unique(),
  preview: text().notNull(),
  /** Null: the key may do everything that its user may. */
  scopes: text({ mode: "json" }).$type<string[]>(),
  expires_at: text(),
  last_used_at: text(),
  created_at: text().notNull(),
  /** A `login` key represents a log-in and ends with the password that created it. */
  kind: text().$type<"key" | "login">().notNull(),
});

/** Failed log-ins by account, whether it exists or not. Times are ms since the epoch. */
export const loginFailures = sqliteTable("login_failures", {
  key: text().primaryKey(),
  failures: integer().notNull(),
  last_at: integer().notNull(),
  locked_until: integer().notNull(),
});

export const oidcProviders = sqliteTable("oidc_providers", {
  slug: text().primaryKey(),
  name: text().notNull(),
  issuer: text().notNull(),
  client_id: text().notNull(),
  client_secret_sealed: text(),
  scopes: text({ mode: "json" }).$type<string[]>().notNull(),
  auto_create: integer({ mode: "boolean" }).notNull(),
  allowed_domains: text({ mode: "json" }).$type<string[]>().notNull(),
  role_claim: text(),
  admin_values: text({ mode: "json" }).$type<string[]>().notNull(),
  group_claim: text().notNull().default("groups"),
  group_roles: text({ mode: "json" })
    .$type<{ group: string; project_id: string; role: ProjectRole }[]>()
    .notNull()
    .default([]),
  button: text({ mode: "json" }).$type<{ label?: string; icon?: string; color?: string }>().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

export const identities = sqliteTable(
  "identities",
  { issuer: text().notNull(), subject: text().notNull(), user_id: userId(), created_at: text().notNull() },
  (t) => [primaryKey({ columns: [t.issuer, t.subject] })],
);

export const waitlist = sqliteTable("waitlist", { email: text().primaryKey(), created_at: text().notNull() });
