/** What agents wrote to each other. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const agentMessages = sqliteTable("agent_messages", {
  id: text().primaryKey(),
  /** User both work for; null on a server without accounts. It is read in that user's work alone. */
  user_id: text(),
  to_agent: text().notNull(),
  from_agent: text().notNull(),
  from_session_id: text().notNull(),
  text: text().notNull(),
  /** How many messages, one answering the other, led to it. */
  hops: integer().notNull(),
  /** The sender had read text from outside. */
  outside: integer({ mode: "boolean" }).notNull(),
  created_at: text().notNull(),
  read_at: text(),
  /** The execution that received it. */
  read_execution_id: text(),
});
