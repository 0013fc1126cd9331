/** Onboardings. Owner, transcript and costs are those of the session. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { sessions } from "./sessions.ts";

export const onboardings = sqliteTable("onboardings", {
  session_id: partOf(() => sessions.id).primaryKey(),
  status: text().$type<"active" | "completed" | "abandoned">().notNull(),
  phase: text().$type<"intake" | "strategy" | "product" | "architecture" | "done">().notNull(),
  /** What the interviewers have found out. */
  context: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  /** Ids of messages in which the server, not the person, speaks to an interviewer. */
  cues: text({ mode: "json" }).$type<string[]>().notNull(),
  /** The project that was created; it may have been deleted since. */
  project_id: text(),
});
