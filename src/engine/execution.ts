/**
 * A session is one piece of work, or one chat, of an agent. An execution is a stretch of work in a session: one agent,
 * in one sandbox, under one budget. This file says what the engine needs of the stored rows; feature/sessions
 * implements it.
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
  /** Limits the execution to these of its agent's tools. */
  onlyTools?: readonly string[] | undefined;
  /** What it was given to do, or a message to it. */
  input: InputPart[];
  /** The system prompt, assembled at the first start; null before. */
  system: string | null;
  contract: Contract;
  /** The command to run, for kinds that work without a model. */
  command: CommandLine | null;
  /** Skills whose text is always in the prompt. Other skills are included when their tags match the task. */
  skills: string[];
  timeoutSeconds: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  startedAt: number | null;
  /** What the execution was waiting for when it was last given back to the queue, as a sentence. */
  waitsFor?: string | undefined;
  /** Milliseconds spent waiting since its start; they do not count toward its time limit. */
  waitedMs: number;
  /** When the current wait began, milliseconds since the epoch. */
  waitingSince?: number | undefined;
}

/** What an execution begins with. */
export interface FirstPrompt {
  system: string;
  said: InputPart[];
  /** Names of the skills whose whole text is in the system prompt. */
  skills: string[];
}

export interface StoredCall {
  /** Position of the message that asked for the call. */
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
/** Reminders from the engine to the model. */
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
      /** `text`: the agent never called `complete`, and its words count as the result. */
      by?: "complete" | "text" | undefined;
    }
  | {
      status: "failed";
      error: { code: string; message: string };
      text: string;
      /** What it gave although it failed: a command's output. */
      outputs?: Record<string, unknown> | undefined;
    }
  | { status: "cancelled"; text: string };

/** What a model call was for. */
export type CallPurpose = "turn" | "summary" | "title";

/** `cancel`: the work is no longer wanted. `interrupt`: this reply ends, the session continues. */
export type StopRequest = "cancel" | "interrupt";

export interface TakeRule {
  perAgent: number;
  /** Take only executions in sessions that another session started. */
  belowOnly: boolean;
}

/** The stored rows of executions. Each call is one transaction, on disk when it returns. */
export interface ExecutionRows {
  /**
   * Claims up to `limit` queued executions whose time has come and marks them as running, owned by this process. Fair
   * between runs and agents: at most one execution per session, and at most `perAgent` per agent, including those in
   * `busyAgents`.
   */
  take(limit: number, busyAgents: ReadonlyMap<string, number>, rule: TakeRule): Execution[];
  /** Gives everything that a dead process left running back to the queue. */
  reclaim(): void;
  /**
   * Gives a running execution back to the queue; it may not start again before `notBefore` (ms since the epoch).
   * @param wait why, as a sentence, and since when (ms since the epoch); null when it only waits for its turn. `until`
   *   is set for a provider that said when it answers again.
   */
  release(id: string, notBefore: number, wait: { why: string; since: number; until?: number | undefined } | null): void;
  /**
   * Records that a model call goes out. If the process dies before the reply is stored, this row says what the call may
   * have cost.
   */
  beginCall(
    execution: Execution,
    call: { model: string; purpose: CallPurpose; input_tokens: number; cost_usd: number | null },
  ): void;
  /** Marks a running execution as waiting for a person. @param wait as in `release`. */
  waits(id: string, wait: { why: string; since: number }): void;
  /** Ends that wait and stores the execution's `waitedMs`. */
  endWait(execution: Execution): void;
  /** Stores the model, the prompt and what was said, in one transaction: a crash between them would lose the task. */
  begin(execution: Execution, model: string, prompt: FirstPrompt): void;
  /** What the model is to read: the last summary and all messages after those it covers. */
  context(execution: Execution): StoredMessage[];
  /** The last reply among what the model is to read, and whether it is the last message. */
  lastReply(execution: Execution): { reply: AssistantMessage; isLast: boolean } | undefined;
  /** The engine's own notes to this execution. */
  notes(execution: Execution): string[];
  /** How many replies this execution has. */
  replies(execution: Execution): number;
  stopRequested(id: string): StopRequest | undefined;
  /** @param announced also shows the note to people at once. */
  addNote(execution: Execution, text: string, announced?: "announced"): void;
  /** Moves messages that steer this execution into its session's transcript. @returns whether there were any. */
  takeSteering(execution: Execution): boolean;
  /**
   * Stores a summary of everything up to `coversTo`, and the call that made it.
   * @param shorter how many tokens shorter the next request is than the last, and the least that it holds, by our
   *   count. Absent when the next request follows at once.
   */
  addSummary(
    execution: Execution,
    text: string,
    coversTo: number,
    reply: ModelReply,
    shorter?: { by: number; least: number },
  ): void;
  /** Stores which model answered an external agent, when fallback models may have been asked. */
  answeredBy(execution: Execution, model: string): void;
  /** Logs a model call that gave no reply to store. */
  logCall(execution: Execution, reply: ModelReply, purpose?: CallPurpose): void;
  /** Stores the reply, its cost, and its tool calls as `requested`, before anything else happens. */
  addReply(execution: Execution, reply: ModelReply): void;
  /** Stores a call that no model asked for, as `requested`: the execution's command. */
  addCall(execution: Execution, tool: string, input: unknown): StoredCall;
  /**
   * Stores what an external agent said, with its calls as `requested`. Its model calls are logged separately.
   * @returns the stored message.
   */
  addSaid(execution: Execution, parts: AssistantPart[], finish: ModelReply["finish"]): AssistantMessage;
  /** Reads a stored call again, as it is now. */
  call(execution: Execution, call: StoredCall): StoredCall;
  /** Id of the session that the external agent's program keeps for this work, from this turn or an earlier one. */
  harnessSession(execution: Execution): string | undefined;
  keepHarnessSession(execution: Execution, harnessSession: string): void;
  startCall(execution: Execution, call: StoredCall, shownInput: unknown): void;
  /** Records which work has read outside text. */
  readonly outside: {
    /** Marks the execution for good, unless it is marked already. On disk when it returns. */
    mark(execution: Execution, reason: string): void;
    reasonOf(execution: Execution): string | undefined;
  };
  /** Stores a call's result. When the result is `outside`, the execution is marked as having read outside text. */
  endCall(execution: Execution, call: StoredCall, result: ToolResult, durationMs: number): void;
  interruptCall(execution: Execution, call: StoredCall): void;
  /**
   * Ends the execution, with everything that follows from it, in one transaction. Does nothing if it has ended already.
   */
  finish(execution: Execution, ending: Ending): void;
  /** Ids of executions that are marked as running and owned by this process. */
  orphans(): string[];
}
