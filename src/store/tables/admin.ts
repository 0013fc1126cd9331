/** Notices to users and administrators, and counts of requests per day. */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const notifications = sqliteTable("notifications", {
  id: text().primaryKey(),
  /** What the notice is about; at most one is open per key. */
  key: text().notNull(),
  level: text().$type<"info" | "warning" | "error">().notNull(),
  title: text().notNull(),
  detail: text(),
  /** The user it is for; null: the administrators. */
  user_id: text(),
  /** How often it was raised. */
  times: integer().notNull(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
  dismissed_at: text(),
});

export const apiUsage = sqliteTable(
  "api_usage",
  {
    /** YYYY-MM-DD, UTC. */
    day: text().notNull(),
    method: text().notNull(),
    route: text().notNull(),
    status: integer().notNull(),
    /** User id, or else the kind of caller. */
    caller: text().notNull(),
    requests: integer().notNull(),
    total_ms: real().notNull(),
    max_ms: real().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.method, t.route, t.status, t.caller] })],
);
