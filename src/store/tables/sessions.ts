/** Sessions of agents, the executions in them, their messages and tool calls. */
import { type AnySQLiteColumn, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CommandLine, Contract } from "../../engine/execution.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import type { FinishReason } from "../../engine/model.ts";
import type { InputPart, MessagePart } from "../../engine/parts.ts";
import type { ToolResult } from "../../engine/tool.ts";
import { partOf } from "./part-of.ts";

export type ExecutionStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
/** `open`: between two turns. `ended`: by a person. A session that ends with its work has that work's status. */
export type SessionStatus = "open" | ExecutionStatus | "ended";

export interface RowError {
  code: string;
  message: string;
}

export const sessions = sqliteTable("sessions", {
  id: text().primaryKey(),
  kind: text().$type<SessionKind>().notNull(),
  /** `NO_AGENT` for a command that borrows no agent's sandbox. */
  agent_id: text().notNull(),
  /** Owner, the same in the whole tree; null on a server without accounts. */
  user_id: text(),
  /** The session that started this one. */
  parent_id: text().references((): AnySQLiteColumn => sessions.id, { onDelete: "cascade" }),
  /** The call in that one which asked for it. */
  call_id: text(),
  /** Itself for one that no other started. */
  root_id: text().notNull(),
  depth: integer().notNull(),
  /** Sessions of the tree, kept at its root. */
  tree_size: integer().notNull(),
  run_id: text(),
  /** Name of the step in its pipeline. */
  step_id: text(),
  project_id: text(),
  task_id: text(),
  title: text(),
  /** Asked for; the one last used is in `model`. */
  wanted_model: text(),
  model: text(),
  /** Names of the tools it is limited to, out of its agent's; null: all of them. */
  tools: text({ mode: "json" }).$type<string[]>(),
  status: text().$type<SessionStatus>().notNull(),
  /** It is being ended: no further turn of it starts, and no session below it. */
  stopping: integer({ mode: "boolean" }).notNull(),
  /** Billionths of a dollar that it may cost with all below it; null: no budget of its own. */
  budget_nano: integer(),
  /** Its own calls' cost and that of all below it. */
  spent_nano: integer().notNull(),
  /** Of its budget, what live sessions below it were given and have not spent. */
  reserved_nano: integer().notNull(),
  /** The nearest session with a budget, from itself upwards. */
  purse_id: text(),
  /** The session out of whose budget its own was given. */
  lender_id: text(),
  tokens: integer().notNull(),
  /** Input tokens of the last model call: how full the window is. */
  context_tokens: integer(),
  execution_count: integer().notNull(),
  message_count: integer().notNull(),
  created_at: text().notNull(),
  last_activity_at: text().notNull(),
  ended_at: text(),
  /** Of a root: what outside text its tree has read, a sentence; null: none. */
  outside: text(),
  /** Model calls that cost something that is not known, its own and those of all below it. */
  calls_without_price: integer().notNull().default(0),
  /**
   * The session in whose working copy it works: itself, or the one that handed the work on. Null: its run's, or a folder
   * of its own.
   */
  work_id: text(),
  /** Of the session whose working copy it is; with the columns below as in `runs`. */
  branch: text(),
  base_commit: text(),
  workspace_notice: text(),
  merged_commit: text(),
  merged_into: text(),
  merged_head: text(),
});

/** System prompts, each text once. */
export const prompts = sqliteTable("prompts", {
  /** Digest of the text. */
  id: text().primaryKey(),
  text: text().notNull(),
});

/** What a model call was about to cost at least, should nothing be heard of it again. */
interface CallUnderWay {
  model: string;
  purpose: "turn" | "summary" | "title";
  input_tokens: number;
  /** Of the prompt alone; null: unknown. */
  cost_usd: number | null;
}

export const executions = sqliteTable("executions", {
  id: text().primaryKey(),
  session_id: partOf(() => sessions.id),
  agent_id: text().notNull(),
  run_id: text(),
  /** Row id of the step's attempt (`step_…`). */
  step_row_id: text(),
  status: text().$type<ExecutionStatus>().notNull(),
  /** While queued: it goes into the running reply, if there is one that continues. */
  steers: integer({ mode: "boolean" }).notNull(),
  /** Taken before others of its session. */
  urgent: integer({ mode: "boolean" }).notNull(),
  /** Id that its input has, or will have, as a message. */
  message_id: text().notNull(),
  input: text({ mode: "json" }).$type<InputPart[]>().notNull(),
  /** What it runs, of a kind that works without a model. */
  command: text({ mode: "json" }).$type<CommandLine | null>(),
  /** Assembled at the first start and kept, so that a resumed execution continues with the same words. */
  prompt_id: text(),
  contract: text({ mode: "json" }).$type<Contract>().notNull(),
  skills: text({ mode: "json" }).$type<string[]>().notNull(),
  /** Asked for; the one used is in `model`. */
  wanted_model: text(),
  model: text(),
  timeout_seconds: integer().notNull(),
  /** Process that works on it; the holder of the data folder's lock knows that any other is dead. */
  lease_owner: text(),
  /** Not taken up before this time, ms since the epoch (back-off). */
  not_before: integer().notNull(),
  /** While queued or taken up again: what it waits for besides its turn, for people. */
  waits_for: text(),
  /** Of its time since the start, what it waited for the machine, ms; a wait that is not over counts from `waiting_since`. */
  waited_ms: integer().notNull().default(0),
  /** Milliseconds since the epoch. */
  waiting_since: integer(),
  /** Waits for a provider's quota or a person's answer until then, ms since the epoch. */
  provider_until: integer(),
  /** The model call that is under way. */
  calling: text({ mode: "json" }).$type<CallUnderWay | null>(),
  /** What the program of an external agent calls its session. */
  harness_session: text(),
  /** It has been asked to end. */
  stop: text().$type<"cancel" | "interrupt">(),
  turns: integer().notNull(),
  cost_nano: integer().notNull(),
  tokens: integer().notNull(),
  outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  /** Of a success: the agent called `complete`, or its words alone are the result. */
  ended_by: text().$type<"complete" | "text">(),
  /** Last text of the agent. */
  text: text().notNull(),
  error: text({ mode: "json" }).$type<RowError | null>(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
  /** Of its model calls. */
  calls_without_price: integer().notNull().default(0),
});

export const messages = sqliteTable(
  "messages",
  {
    session_id: partOf(() => sessions.id),
    /** From 0, without gap. */
    seq: integer().notNull(),
    id: text().notNull(),
    execution_id: text().notNull(),
    /** `note`: the engine's words to the model. `summary`: stands for every message up to `covers_to`. */
    role: text().$type<"user" | "assistant" | "note" | "summary">().notNull(),
    content: text({ mode: "json" }).$type<MessagePart[]>().notNull(),
    /** Of a reply: how it ended. */
    finish: text().$type<FinishReason>(),
    covers_to: integer(),
    /** Taken back: still to be read by people, not by the model. */
    withdrawn: integer({ mode: "boolean" }).notNull(),
    created_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.session_id, t.seq] })],
);

export const toolCalls = sqliteTable(
  "tool_calls",
  {
    session_id: partOf(() => sessions.id),
    /** The reply that asked for it. */
    seq: integer().notNull(),
    position: integer().notNull(),
    execution_id: text().notNull(),
    call_id: text().notNull(),
    tool: text().notNull(),
    input: text({ mode: "json" }).notNull(),
    status: text().$type<"requested" | "running" | "done" | "interrupted">().notNull(),
    ok: integer({ mode: "boolean" }),
    output: text(),
    /** Set when this call ended the execution. */
    ending: text({ mode: "json" }).$type<ToolResult["end"]>(),
    started_at: text(),
    finished_at: text(),
    duration_ms: integer(),
  },
  (t) => [primaryKey({ columns: [t.session_id, t.seq, t.position] })],
);
