/** Tool servers, and what they say about their tools. */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";

export const mcpServers = sqliteTable("mcp_servers", {
  id: text().primaryKey(),
  name: text().notNull(),
  description: text().notNull(),
  transport: text().$type<"stdio" | "http" | "sse">().notNull(),
  command: text(),
  args: text({ mode: "json" }).$type<string[]>().notNull(),
  url: text(),
  image: text(),
  network: text().$type<"none" | "bridge">().notNull(),
  memory_mb: integer().notNull(),
  /** Environment variables and headers, each a sealed JSON object of texts. */
  sealed_env: text().notNull(),
  sealed_headers: text().notNull(),
  timeout_ms: integer().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  /** Ids of agents; "*" is every agent. */
  agents: text({ mode: "json" }).$type<string[]>().notNull(),
  /** Status that somebody set by hand; null: none. */
  held: text().$type<"stopped" | "error">(),
  held_reason: text(),
  /** When its first list of tools was approved automatically. */
  pinned_at: text(),
  sealed_tokens: text(),
  /** Sealed JSON: the OAuth client that was registered by hand with its authorization server. */
  sealed_oauth: text(),
  elicitation: text().$type<"off" | "defaults">().notNull().default("off"),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

/** The parts of a tool that its hash covers. */
export interface ToolDefinition {
  title?: string;
  description: string;
  input_schema: Record<string, unknown>;
  output_schema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

export const mcpTools = sqliteTable(
  "mcp_tools",
  {
    server_id: partOf(() => mcpServers.id),
    name: text().notNull(),
    offered: text({ mode: "json" }).$type<ToolDefinition>().notNull(),
    offered_hash: text().notNull(),
    approved: text({ mode: "json" }).$type<ToolDefinition>(),
    approved_hash: text(),
    problem: text(),
    listed: integer({ mode: "boolean" }).notNull(),
    seen_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.server_id, t.name] })],
);
