/** Sessions of agents, the executions in them, their messages and tool calls. */
import { type AnySQLiteColumn, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CommandLine, Contract } from "../../engine/execution.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import type { FinishReason } from "../../engine/model.ts";
import type { InputPart, MessagePart } from "../../engine/parts.ts";
import type { ToolResult } from "../../engine/tool.ts";
import { partOf } from "./part-of.ts";

export type ExecutionStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
/** `open`: between two turns. `ended`: ended by a person. A session that ends with its work has that work's status. */
export type SessionStatus = "open" | ExecutionStatus | "ended";

export interface RowError {
  code: string;
  message: string;
}

export const sessions = sqliteTable("sessions", {
  id: text().primaryKey(),
  kind: text().$type<SessionKind>().notNull(),
  /** `NO_AGENT` for a command that uses no agent's sandbox. */
  agent_id: text().notNull(),
  /** Owner, the same in the whole session tree; null on a server without accounts. */
  user_id: text(),
  /** The session that started this one. */
  parent_id: text().references((): AnySQLiteColumn => sessions.id, { onDelete: "cascade" }),
  /** The tool call in the parent session that started this one. */
  call_id: text(),
  /** Root of the session tree; its own id when no other session started it. */
  root_id: text().notNull(),
  depth: integer().notNull(),
  /** Number of sessions in the tree, stored at its root. */
  tree_size: integer().notNull(),
  run_id: text(),
  /** Id of the step in its pipeline. */
  step_id: text(),
  project_id: text(),
  task_id: text(),
  title: text(),
  /** Model that was requested; `model` is the one last used. */
  wanted_model: text(),
  model: text(),
  /** The subset of its agent's tools that the session is limited to; null: all of them. */
  tools: text({ mode: "json" }).$type<string[]>(),
  status: text().$type<SessionStatus>().notNull(),
  /** True while the session is being ended: no further turn and no session below it may start. */
  stopping: integer({ mode: "boolean" }).notNull(),
  /** Limit in billionths of a dollar for its cost, with all sessions below it; null: it has no budget of its own. */
  budget_nano: integer(),
  /** Cost of its own model calls and of all sessions below it. */
  spent_nano: integer().notNull(),
  /** The part of its budget that unfinished sessions below it were given and have not spent. */
  reserved_nano: integer().notNull(),
  /** The nearest session with a budget, from this one upwards. */
  purse_id: text(),
  /** The session whose budget this session's budget was taken from. */
  lender_id: text(),
  tokens: integer().notNull(),
  /** Input tokens of the last model call, which show how full the window is. */
  context_tokens: integer(),
  execution_count: integer().notNull(),
  message_count: integer().notNull(),
  created_at: text().notNull(),
  last_activity_at: text().notNull(),
  ended_at: text(),
  /** At a root: which outside text its tree has read, as a sentence; null: none. */
  outside: text(),
  /** Number of model calls with an unknown price, of this session and all below it. */
  calls_without_price: integer().notNull().default(0),
  /**
   * The session in whose working copy this one works: itself, or the one that gave it the work. Null: it works in its
   * run's working copy, or in a folder of its own.
   */
  work_id: text(),
  /** Set for the session that owns the working copy; this column and those below as in `runs`. */
  branch: text(),
  base_commit: text(),
  workspace_notice: text(),
  merged_commit: text(),
  merged_into: text(),
  merged_head: text(),
});

/** System prompts; each text is stored once. */
export const prompts = sqliteTable("prompts", {
  /** Digest of the text. */
  id: text().primaryKey(),
  text: text().notNull(),
});

/** The least that a model call may have cost if its reply is never stored. */
interface CallUnderWay {
  model: string;
  purpose: "turn" | "summary" | "title";
  input_tokens: number;
  /** Cost of the prompt only; null: unknown. */
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
  /** While queued: the input is added to the running reply if that continues. */
  steers: integer({ mode: "boolean" }).notNull(),
  /** Taken before others of its session. */
  urgent: integer({ mode: "boolean" }).notNull(),
  /** Id that its input has, or will have, as a message. */
  message_id: text().notNull(),
  input: text({ mode: "json" }).$type<InputPart[]>().notNull(),
  /** The command to run, for kinds that work without a model. */
  command: text({ mode: "json" }).$type<CommandLine | null>(),
  /**
   * The system prompt, assembled at the first start and stored, so that a resumed execution continues with the same
   * text.
   */
  prompt_id: text(),
  contract: text({ mode: "json" }).$type<Contract>().notNull(),
  skills: text({ mode: "json" }).$type<string[]>().notNull(),
  /** Model that was requested; `model` is the one used. */
  wanted_model: text(),
  model: text(),
  timeout_seconds: integer().notNull(),
  /** Process that works on it. Whoever holds the data folder's lock knows that every other process is dead. */
  lease_owner: text(),
  /** Earliest time to take it, ms since the epoch (back-off). */
  not_before: integer().notNull(),
  /** What it waits for besides its turn, in words for people; also while it runs again. */
  waits_for: text(),
  /** Milliseconds since the start that it spent waiting; a wait that is not over is counted from `waiting_since`. */
  waited_ms: integer().notNull().default(0),
  /** When the current wait began, ms since the epoch. */
  waiting_since: integer(),
  /** When its wait for a provider's quota or a person's answer ends, ms since the epoch. */
  provider_until: integer(),
  /** The model call in progress. */
  calling: text({ mode: "json" }).$type<CallUnderWay | null>(),
  /** Id of the session that an external agent's program keeps. */
  harness_session: text(),
  /** Set when the execution was asked to end. */
  stop: text().$type<"cancel" | "interrupt">(),
  turns: integer().notNull(),
  cost_nano: integer().notNull(),
  tokens: integer().notNull(),
  outputs: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  /** For a success: whether the agent called `complete`, or its text alone is the result. */
  ended_by: text().$type<"complete" | "text">(),
  /** Last text of the agent. */
  text: text().notNull(),
  error: text({ mode: "json" }).$type<RowError | null>(),
  created_at: text().notNull(),
  started_at: text(),
  finished_at: text(),
  /** Number of its model calls without a known price. */
  calls_without_price: integer().notNull().default(0),
});

export const messages = sqliteTable(
  "messages",
  {
    session_id: partOf(() => sessions.id),
    /** From 0, without gaps. */
    seq: integer().notNull(),
    id: text().notNull(),
    execution_id: text().notNull(),
    /** `note`: the engine's text for the model. `summary`: replaces every message up to `covers_to`. */
    role: text().$type<"user" | "assistant" | "note" | "summary">().notNull(),
    content: text({ mode: "json" }).$type<MessagePart[]>().notNull(),
    /** For a reply: how it ended. */
    finish: text().$type<FinishReason>(),
    covers_to: integer(),
    /** Taken back: people can still read it, the model cannot. */
    withdrawn: integer({ mode: "boolean" }).notNull(),
    created_at: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.session_id, t.seq] })],
);

export const toolCalls = sqliteTable(
  "tool_calls",
  {
    session_id: partOf(() => sessions.id),
    /** Position of the message that asked for the call. */
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
