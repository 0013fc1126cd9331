/** Tools that are switched on or off for one agent, in addition to what its file says. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const toolOverrides = sqliteTable(
  "tool_overrides",
  {
    agent_id: text().notNull(),
    tool: text().notNull(),
    enabled: integer({ mode: "boolean" }).notNull(),
    updated_at: text().notNull(),
    updated_by: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.agent_id, t.tool] })],
);
