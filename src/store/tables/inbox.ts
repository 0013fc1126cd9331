/** Messages between agents. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const agentMessages = sqliteTable("agent_messages", {
  id: text().primaryKey(),
  /**
   * The user that both agents work for; null on a server without accounts. The message is only read in that user's
   * work.
   */
  user_id: text(),
  to_agent: text().notNull(),
  from_agent: text().notNull(),
  from_session_id: text().notNull(),
  text: text().notNull(),
  /** How many messages, each answering the one before, led to this one. */
  hops: integer().notNull(),
  /** True when the sender had read outside text. */
  outside: integer({ mode: "boolean" }).notNull(),
  created_at: text().notNull(),
  read_at: text(),
  /** The execution that received the message. */
  read_execution_id: text(),
});
