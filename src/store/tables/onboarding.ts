/** Onboardings. The owner, the transcript and the costs are the session's. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { sessions } from "./sessions.ts";

export const onboardings = sqliteTable("onboardings", {
  session_id: partOf(() => sessions.id).primaryKey(),
  status: text().$type<"active" | "completed" | "abandoned">().notNull(),
  phase: text().$type<"intake" | "strategy" | "product" | "architecture" | "done">().notNull(),
  /** What the interviewers found out. */
  context: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  /** Ids of messages in which the server, not the person, speaks to an interviewer. */
  cues: text({ mode: "json" }).$type<string[]>().notNull(),
  /** The project that was made; it may have been deleted since. */
  project_id: text(),
});
