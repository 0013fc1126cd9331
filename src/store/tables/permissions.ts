/** Questions to people about tool calls, and answers that hold for more than one call. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ToolKind } from "../../core/permission-rule.ts";
import { partOf } from "./part-of.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";

/** `expired`: nobody answered in time. `withdrawn`: the work ended first. */
export type PermissionState = "waiting" | "allowed" | "denied" | "expired" | "withdrawn";

export const permissionRequests = sqliteTable("permission_requests", {
  id: text().primaryKey(),
  session_id: partOf(() => sessions.id),
  execution_id: text().notNull(),
  /** Unique in its session. */
  call_id: text().notNull(),
  agent_id: text().notNull(),
  tool: text().notNull(),
  tool_kind: text().$type<ToolKind>().notNull(),
  /** The command, path or address; masked and shortened. */
  subject: text().notNull(),
  /** Texts of the rules that ask. */
  rules: text({ mode: "json" }).$type<string[]>().notNull(),
  can_remember: integer({ mode: "boolean" }).notNull(),
  state: text().$type<PermissionState>().notNull(),
  /** How long a permission lasts, if it was given. */
  lasts: text().$type<"once" | "work" | "agent">(),
  comment: text(),
  answered_by: text(),
  created_at: text().notNull(),
  /** Milliseconds since the epoch. */
  deadline: integer().notNull(),
  answered_at: text(),
});

export const permissionAnswers = sqliteTable("permission_answers", {
  id: text().primaryKey(),
  agent_id: text().notNull(),
  /** The user whose run or chat it is; null when the answer is for the agent. */
  user_id: text(),
  run_id: text().references(() => runs.id, { onDelete: "cascade" }),
  /** Root of the session tree, when there is no run. */
  session_id: text().references(() => sessions.id, { onDelete: "cascade" }),
  /** Text of the rule that asked. */
  rule: text().notNull(),
  /** Subject of the first question. */
  subject: text().notNull(),
  answered_by: text().notNull(),
  created_at: text().notNull(),
});
