/**
 * Tables of the store itself: the event log, stored answers for idempotency, facts about the instance, the audit log.
 */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const events = sqliteTable("events", {
  id: integer().primaryKey({ autoIncrement: true }),
  kind: text().notNull(),
  at: text().notNull(),
  run_id: text(),
  step_id: text(),
  session_id: text(),
  agent_id: text(),
  swarm_id: text(),
  project_id: text(),
  user_id: text(),
  data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
});

export const idempotency = sqliteTable("idempotency", {
  /** Caller, path and key, joined by line feeds. */
  key: text().primaryKey(),
  /** SHA-256 of the body. */
  fingerprint: text().notNull(),
  status: integer().notNull(),
  location: text(),
  body: text().notNull(),
  created_at: integer().notNull(),
});

/** Facts about the instance by name, such as its id and the setup's state. */
export const facts = sqliteTable("facts", { name: text().primaryKey(), value: text().notNull() });

export const audit = sqliteTable("audit", {
  id: text().primaryKey(),
  at: text().notNull(),
  /** e.g. `secret.env_read`, `login.failed`. */
  action: text().notNull(),
  /** user id, `engine`, `local`, or `execution:<id>`. */
  actor: text().notNull(),
  subject: text(),
  address: text(),
  data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
});

/** Name of the fact that agents have worked in containers. */
export const CONTAINERS_USED = "containers_used";
