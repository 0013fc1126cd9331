/** Browser cookie sets and the agents they were granted to. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";

export const cookieSets = sqliteTable("cookie_sets", {
  id: text().primaryKey(),
  name: text().notNull(),
  /** The user whose cookies they are; null: the local administrator. */
  owner_id: text(),
  domains: text({ mode: "json" }).$type<string[]>().notNull(),
  cookie_count: integer().notNull(),
  /** Latest expiry of a cookie; null when any of them is a session cookie. */
  expires_at: text(),
  /** The cookies as JSON, sealed: base64(nonce ‖ tag ‖ ciphertext). */
  sealed: text().notNull(),
  created_at: text().notNull(),
});

export const cookieGrants = sqliteTable(
  "cookie_grants",
  {
    cookie_set_id: partOf(() => cookieSets.id),
    agent_id: text().notNull(),
    granted_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.cookie_set_id, t.agent_id] })],
);
