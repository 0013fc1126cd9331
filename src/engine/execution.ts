/**
 * A session is one piece of work or one chat of an agent; an execution is a stretch of work in it: one agent at work, in
 * one sandbox, under one budget. This file says what the engine needs of the rows; feature/sessions keeps them.
 */
import type { ModelReply } from "./model.ts";
import type { AssistantPart, InputPart } from "./parts.ts";
import type { ExecutionInfo, ToolResult } from "./tool.ts";

/** What an execution must give when it completes. */
export interface Contract {
  /** Names that `complete` must give. */
  outputs: string[];
  /** JSON Schema that the outputs must meet, or null. */
  schema: Record<string, unknown> | null;
}

/** A command for the sandbox's shell. */
export interface CommandLine {
  command: string;
  /** Relative to the workspace. */
  working_directory?: string | undefined;
  env?: Record<string, string> | undefined;
}

export interface Execution extends ExecutionInfo {
  wantedModel?: string | undefined;
  /** Holds it to these of its agent's tools. */
  onlyTools?: readonly string[] | undefined;
  /** What it was given to do, or a message to it. */
  input: InputPart[];
  /** Assembled at the first start; null before. */
  system: string | null;
  contract: Contract;
  /** What it runs, of a kind that works without a model. */
  command: CommandLine | null;
  /** Skills put in whole whatever the task says; others are put in when their tags match it. */
  skills: string[];
  timeoutSeconds: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  startedAt: number | null;
  /** Of the machine, when it was last given back: a sentence. */
  waitsFor?: string | undefined;
  /** What it waited for the machine since its start, ms: not of its own time. */
  waitedMs: number;
  /** When the wait that is not over began, milliseconds since the epoch. */
  waitingSince?: number | undefined;
}

/** What an execution begins with. */
export interface FirstPrompt {
  system: string;
  said: InputPart[];
  /** Names of the skills that the system prompt holds whole. */
  skills: string[];
}

export interface StoredCall {
  /** Of the message that asked for it. */
  seq: number;
  position: number;
  callId: string;
  tool: string;
  input: unknown;
  status: "requested" | "running" | "done" | "interrupted";
  ok: boolean;
  output: string;
  ending: ToolResult["end"] | null;
}

interface Stored {
  /** Position in the session, from 0. */
  seq: number;
  executionId: string;
}
/** What a person or another agent said. */
type UserMessage = Stored & { role: "user"; parts: InputPart[] };
/** What the engine says to the model: reminders. */
type NoteMessage = Stored & { role: "note"; text: string };
/** Stands for every message up to and including `coversTo`. */
type SummaryMessage = Stored & { role: "summary"; text: string; coversTo: number };
export type AssistantMessage = Stored & {
  role: "assistant";
  parts: AssistantPart[];
  finish: ModelReply["finish"];
  calls: StoredCall[];
};
export type StoredMessage = UserMessage | NoteMessage | SummaryMessage | AssistantMessage;

export type Ending =
  | {
      status: "succeeded";
      outputs: Record<string, unknown>;
      text: string;
      /** `text`: it never called `complete`; its words count as the result. */
      by?: "complete" | "text" | undefined;
    }
  | {
      status: "failed";
      error: { code: string; message: string };
      text: string;
      /** What it gave all the same: a command's output. */
      outputs?: Record<string, unknown> | undefined;
    }
  | { status: "cancelled"; text: string };

/** What a model call was for. */
export type CallPurpose = "turn" | "summary" | "title";

/** `cancel`: the work is no longer wanted. `interrupt`: this reply ends, the session continues. */
export type StopRequest = "cancel" | "interrupt";

export interface TakeRule {
  perAgent: number;
  /** Only those in sessions that another started. */
  belowOnly: boolean;
}

/** The rows of executions. Each call is one transaction, on disk when it returns. */
export interface ExecutionRows {
  /**
   * Takes up to `limit` queued executions whose time has come: queued → running, owned by us. Fair between runs and
   * agents, one of a session at a time, at most `perAgent` of an agent with those in `busyAgents`.
   */
  take(limit: number, busyAgents: ReadonlyMap<string, number>, rule: TakeRule): Execution[];
  /** Everything a dead process left running goes back to the queue. */
  reclaim(): void;
  /**
   * Gives a running execution back to the queue, not to be taken up before `notBefore` (ms since the epoch).
   * @param wait why, in a sentence, and since when, ms since the epoch; null waits for nothing but its turn. `until`: of
   *   a provider that said when it answers again.
   */
  release(id: string, notBefore: number, wait: { why: string; since: number; until?: number | undefined } | null): void;
  /** A model call goes out: should the process die before its reply is stored, this is what it may have cost. */
  beginCall(
    execution: Execution,
    call: { model: string; purpose: CallPurpose; input_tokens: number; cost_usd: number | null },
  ): void;
  /** A running execution waits for somebody. @param wait as in `release`. */
  waits(id: string, wait: { why: string; since: number }): void;
  /** What it waited for is there. Keeps its `waitedMs`. */
  resumed(execution: Execution): void;
  /** Model, prompt and what was said to it: all or nothing, or a crash between them would lose the task. */
  begin(execution: Execution, model: string, prompt: FirstPrompt): void;
  /** What the model is to read: the last summary and what follows the messages it covers. */
  context(execution: Execution): StoredMessage[];
  /** The last reply of what the model is to read, and whether nothing was said after it. */
  lastReply(execution: Execution): { reply: AssistantMessage; isLast: boolean } | undefined;
  /** What the engine has said to this execution. */
  notes(execution: Execution): string[];
  /** How many replies this execution has. */
  replies(execution: Execution): number;
  stopRequested(id: string): StopRequest | undefined;
  /** @param announced people see it as it happens, too. */
  addNote(execution: Execution, text: string, announced?: "announced"): void;
  /** Moves messages that are to steer this execution into its session's transcript. @returns whether there were any. */
  takeSteering(execution: Execution): boolean;
  /**
   * Stores a summary of everything up to `coversTo`, and the call that made it.
   * @param shorter by how many tokens the next request is shorter than the last, and what it holds at least, by our
   *   count; absent where the next one is made at once.
   */
  addSummary(
    execution: Execution,
    text: string,
    coversTo: number,
    reply: ModelReply,
    shorter?: { by: number; least: number },
  ): void;
  /** The model that answered an external agent, where another may have been asked first. */
  answeredBy(execution: Execution, model: string): void;
  /** Logs a model call that gave no reply to store. */
  logCall(execution: Execution, reply: ModelReply, purpose?: CallPurpose): void;
  /** The reply, its tool calls as `requested`, its cost: before anything else happens. */
  addReply(execution: Execution, reply: ModelReply): void;
  /** Stores a call that no model asked for, as `requested`: the command of the execution. */
  addCall(execution: Execution, tool: string, input: unknown): StoredCall;
  /**
   * Stores what an external agent said, its calls as `requested`. Its model calls are logged on their own.
   * @returns it as it is stored.
   */
  addSaid(execution: Execution, parts: AssistantPart[], finish: ModelReply["finish"]): AssistantMessage;
  /** A stored call as it is now. */
  call(execution: Execution, call: StoredCall): StoredCall;
  /** The session that an external agent's program has for this work, of this or an earlier turn. */
  harnessSession(execution: Execution): string | undefined;
  keepHarnessSession(execution: Execution, harnessSession: string): void;
  startCall(execution: Execution, call: StoredCall, shownInput: unknown): void;
  /** Which work has read outside text. */
  readonly outside: {
    /** Marks the execution, unless it is: for good, on disk when it returns. */
    mark(execution: Execution, reason: string): void;
    reasonOf(execution: Execution): string | undefined;
  };
  /** Marks the work where the result is `outside`. */
  endCall(execution: Execution, call: StoredCall, result: ToolResult, durationMs: number): void;
  interruptCall(execution: Execution, call: StoredCall): void;
  /** The end, together with what follows from it in the same transaction. No-op if it has ended already. */
  finish(execution: Execution, ending: Ending): void;
  /** Ids of rows that say running and are owned by this process. */
  orphans(): string[];
}
