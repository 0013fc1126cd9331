/** Connections of agents' programs through the server's proxy. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { sessions } from "./sessions.ts";

export const egressConnections = sqliteTable("egress_connections", {
  id: text().primaryKey(),
  session_id: partOf(() => sessions.id),
  execution_id: text().notNull(),
  run_id: text(),
  agent_id: text().notNull(),
  host: text().notNull(),
  port: integer().notNull(),
  verdict: text().$type<"allowed" | "denied" | "failed">().notNull(),
  /** Why it was denied or failed. */
  reason: text(),
  sent_bytes: integer().notNull(),
  received_bytes: integer().notNull(),
  started_at: text().notNull(),
  duration_ms: integer().notNull(),
});
