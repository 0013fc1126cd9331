/**
 * The engine's view of a model: messages in, one reply out, with chunks on the way. It is independent of providers.
 */

import type { AssistantPart, TextPart } from "./parts.ts";

/** A picture or document whose bytes the model reads. */
export interface DataPart {
  type: "image" | "file";
  media_type: string;
  name: string;
  data: Uint8Array;
}

export type ModelMessage =
  | { role: "user"; parts: (TextPart | DataPart)[] }
  | { role: "assistant"; parts: AssistantPart[] }
  | { role: "tool"; results: { call_id: string; tool: string; ok: boolean; output: string }[] };

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** `provider/model`, e.g. `ollama/qwen3`, `demo/scripted`. */
  model: string;
  system: string;
  messages: ModelMessage[];
  tools: ModelTool[];
  /** Names of tools that the model may also call, although it sees them only after asking for them. */
  moreTools?: readonly string[] | undefined;
  thinkingLevel: "off" | "low" | "medium" | "high";
  temperature?: number | undefined;
  maxOutputTokens?: number | undefined;
  /** The user whose own provider key is tried first. */
  userId?: string | undefined;
  /** Identifies the execution: scripted and recorded models find their transcript by it. */
  scope: {
    agentId: string;
    runId?: string | undefined;
    stepId?: string | undefined;
    sessionId: string;
    script?: string | undefined;
  };
  signal: AbortSignal;
  onText?(text: string): void;
  onThinking?(text: string): void;
  /** Withdraws what was shown since the call began: the provider failed, and the call is made again. */
  onWithdrawn?(): void;
}

export interface ModelUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Of `cache_write_tokens`, those that are kept for an hour, which costs more. */
  cache_write_hour_tokens?: number | undefined;
  reasoning_tokens: number;
}

export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "error" | "aborted";

/** The end of a call, good or bad: a call never throws. */
export interface ModelReply {
  parts: AssistantPart[];
  finish: FinishReason;
  /** Usage of all attempts together. */
  usage: ModelUsage;
  /** True when the provider gave no counts, or impossible ones, and they were estimated from the texts. */
  usage_estimated?: boolean | undefined;
  /** Null when the price is unknown. */
  cost_usd: number | null;
  cost_source: "table" | "provider" | "unknown";
  key_source: "user" | "instance" | "env" | "none";
  provider: string;
  model: string;
  duration_ms: number;
  time_to_first_token_ms: number | null;
  /** Attempts made, retries included. */
  attempts: number;
  /** Set when finish is error: `code` e.g. `provider_not_configured`, `provider_auth`, `provider_rate_limited`, `provider_error`, `provider_timeout`. Never holds a key. */
  error?: {
    code: string;
    message: string;
    retryable: boolean;
    /** When the provider says it will answer again, ms since the epoch. */
    retry_at?: number | undefined;
  };
}

export interface ModelInfo {
  id: string;
  /** Context window in tokens, as far as it is known without asking the server; see `ModelPort.windowOf`. */
  context_window: number | null;
  /** The largest context window that the model supports. */
  max_context_window: number | null;
  /** The most tokens in a reply. */
  max_output_tokens: number | null;
  input_usd_per_mtok: number | null;
  output_usd_per_mtok: number | null;
  reasoning: boolean;
  tools: boolean;
  /** Whether it accepts pictures, and (`documents`) PDF files, without conversion. */
  images: boolean;
  documents: boolean;
}

/** A request in a provider's own protocol. */
export interface PassRequest extends Pick<ModelRequest, "model" | "userId" | "signal"> {
  protocol: "chat" | "responses" | "messages" | "gemini";
  /** Whether the answer is a stream; in `gemini` the URL says so, in the other protocols the body. */
  stream?: boolean | undefined;
  body: Readonly<Record<string, unknown>>;
  /** The client's headers that choose features of the protocol. */
  headers: Readonly<Record<string, string>>;
  /** The most tokens of the reply, when the budget has room for no more. */
  maxOutputTokens?: number | undefined;
}

export interface PassedOn {
  /** The provider's answer; its bytes are passed on as they come. */
  answer: Response;
  /**
   * Resolves once the last byte was read or the reader went away, with usage and cost. Holds no parts. Never rejects.
   */
  reply: Promise<ModelReply>;
}

export interface ModelPort {
  call(request: ModelRequest): Promise<ModelReply>;
  /**
   * Passes a request on to a provider that speaks the same protocol. Undefined when it speaks another: use `call`.
   * Never throws.
   */
  pass?(request: PassRequest): Promise<PassedOn | ModelReply | undefined>;
  /** What is known of a model without asking its server; null fields are unknown. */
  info(model: string): ModelInfo;
  /**
   * The window that is really served, in tokens; the server is asked if the user runs it. Null: unknown. Never throws.
   */
  windowOf?(request: Pick<ModelRequest, "model" | "userId" | "signal">): Promise<number | null>;
  /**
   * Upper estimate in USD of a call with that many input tokens and full output; null when unknown.
   * @param cachesForHour the request asks that its prompt is kept for an hour.
   */
  estimateUsd(model: string, inputTokens: number, outputTokens: number, cachesForHour?: boolean): number | null;
}
