/**
 * The one concept: an execution is one agent at work on one prompt, in one sandbox, under one budget, with one
 * transcript. This file says what the engine needs of its rows; feature/executions keeps them.
 */
import type { AssistantPart, ModelReply } from "./model.ts";
import type { ExecutionInfo, ToolResult } from "./tool.ts";

export interface Contract {
  /** Names that `complete` must give. */
  outputs: string[];
  /** JSON Schema that the outputs must meet, or null. */
  schema: Record<string, unknown> | null;
}

export interface Execution extends ExecutionInfo {
  /** Row id of the pipeline step. */
  stepRowId?: string | undefined;
  wantedModel?: string | undefined;
  prompt: string;
  /** Assembled at the first start; null before. */
  system: string | null;
  contract: Contract;
  /** Skills put in without a call: matched to the step. */
  skills: string[];
  timeoutSeconds: number;
  turns: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  startedAt: number | null;
}

export interface StoredCall {
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

export type StoredMessage =
  | { seq: number; role: "user" | "summary"; content: string }
  | { seq: number; role: "assistant"; content: AssistantPart[]; calls: StoredCall[] };

export type Ending =
  | { status: "succeeded"; outputs: Record<string, unknown>; text: string }
  | { status: "failed"; error: { code: string; message: string }; text: string }
  | { status: "cancelled"; text: string };

/** What a model call was for. */
export type CallPurpose = "turn" | "summary";

/** The rows of executions. Each call is one transaction, on disk when it returns. */
export interface ExecutionRows {
  /** Takes up to `limit` queued executions whose time has come, fairly between runs: queued → running, owned by us. */
  take(limit: number, busyAgents: ReadonlyMap<string, number>, perAgent: number): Execution[];
  /** Everything a dead process left running goes back to the queue. @returns how many. */
  reclaim(): number;
  /** Gives a running execution back to the queue, not to be taken up before `notBefore` (ms since the epoch). */
  release(id: string, notBefore: number, why: string | null): void;
  /** Model, system prompt and first user message: all or nothing, or a crash between them would leave a task untold. */
  begin(id: string, model: string, system: string, user: string): void;
  transcript(id: string): StoredMessage[];
  cancelRequested(id: string): boolean;
  addUserMessage(id: string, content: string): void;
  /** Stores a summary that stands for everything before it, and the call that made it. */
  addSummary(execution: Execution, content: string, reply: ModelReply): void;
  /** Logs a model call that gave no reply to store. */
  logCall(execution: Execution, reply: ModelReply, purpose?: CallPurpose): void;
  /** The reply, its tool calls as `requested`, its cost: before anything else happens. */
  addReply(execution: Execution, reply: ModelReply): void;
  startCall(execution: Execution, call: StoredCall, shownInput: unknown): void;
  endCall(execution: Execution, call: StoredCall, result: ToolResult, durationMs: number): void;
  interruptCall(execution: Execution, call: StoredCall): void;
  /** The end, together with what follows from it in the same transaction. No-op if it has ended already. */
  finish(execution: Execution, ending: Ending): void;
  /** Ids that stand as running and are owned by this process. */
  orphans(): string[];
}
