/** The model as the engine sees it: messages in, one reply out, chunks on the way. Nothing here knows a provider. */

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
  /** JSON Schema, an object. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** `provider/model`, e.g. `ollama/qwen3`, `demo/scripted`. */
  model: string;
  system: string;
  messages: ModelMessage[];
  tools: ModelTool[];
  /** Names of tools that may be called, too, though the model is not shown them before it asks. */
  moreTools?: readonly string[] | undefined;
  thinkingLevel: "off" | "low" | "medium" | "high";
  temperature?: number | undefined;
  maxOutputTokens?: number | undefined;
  /** Whose personal key comes first. */
  userId?: string | undefined;
  /** Names the execution: scripted and recorded models find their transcript by it. */
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
  /** What was shown since the call began is withdrawn: the provider failed, and the call is made again. */
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
  /** Of every try that was made for it. */
  usage: ModelUsage;
  /** The provider gave no counts, or impossible ones: they were measured by the texts. */
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
    /** When the provider says that it answers again, ms since the epoch. */
    retry_at?: number | undefined;
  };
}

export interface ModelInfo {
  id: string;
  /** Tokens that are served, as far as is known without asking the server; see `ModelPort.windowOf`. */
  context_window: number | null;
  /** The most that the model can. */
  max_context_window: number | null;
  /** The most tokens of a reply. */
  max_output_tokens: number | null;
  input_usd_per_mtok: number | null;
  output_usd_per_mtok: number | null;
  reasoning: boolean;
  tools: boolean;
  /** Whether it reads pictures, and PDF files, as they are. */
  images: boolean;
  documents: boolean;
}

/** A request in a provider's own protocol. */
export interface PassRequest extends Pick<ModelRequest, "model" | "userId" | "signal"> {
  protocol: "chat" | "responses" | "messages" | "gemini";
  /** Whether the answer is a stream; the address says it in `gemini`, the body in the others. */
  stream?: boolean | undefined;
  body: Readonly<Record<string, unknown>>;
  /** Headers of the client that say which features of the protocol it wants. */
  headers: Readonly<Record<string, string>>;
  /** The most tokens of the reply, where the budget has room for no more. */
  maxOutputTokens?: number | undefined;
}

export interface PassedOn {
  /** The provider's answer, its bytes as they come. */
  answer: Response;
  /** Once the last byte was read, or the reader went away: what it used and cost. Holds no parts. Never rejects. */
  reply: Promise<ModelReply>;
}

export interface ModelPort {
  call(request: ModelRequest): Promise<ModelReply>;
  /** Passes a request on to a provider that speaks its protocol. Undefined: it speaks another; use `call`. Never throws. */
  pass?(request: PassRequest): Promise<PassedOn | ModelReply | undefined>;
  /** What is known of a model offline; null fields are unknown. */
  info(model: string): ModelInfo;
  /** The window that is really served, in tokens; a server of one's own is asked. Null: unknown. Never throws. */
  windowOf?(request: Pick<ModelRequest, "model" | "userId" | "signal">): Promise<number | null>;
  /**
   * Upper estimate in USD of a call with that many input tokens and full output; null when unknown.
   * @param cachesForHour the request asks that its prompt is kept for an hour.
   */
  estimateUsd(model: string, inputTokens: number, outputTokens: number, cachesForHour?: boolean): number | null;
}
