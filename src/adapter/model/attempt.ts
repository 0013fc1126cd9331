/**
 * One attempt of a call: streams it, watches the clock and the caller's signal, and returns the reply or a failure. It
 * never throws, and returns shortly after an abort even when the provider hangs.
 */

import { jsonSchema, type LanguageModel, streamText, type ToolSet, tool } from "ai";
import type { Clock } from "../../core/clock.ts";
import { membersOf, numberIn } from "../../core/is-object.ts";
import { takeTurns } from "../../core/turns.ts";
import type { FinishReason, ModelRequest, ModelTool, ModelUsage } from "../../engine/model.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import type { Failure } from "./failure.ts";
import { providerOptions, type ThinkingSetting, thinkingOptions } from "./language-model.ts";
import { sdkMessages, sdkSystem } from "./prompt.ts";
import { findTruncation, textsOfRequest } from "./prompt-cut.ts";
import { OWN_KINDS, type ProviderKind } from "./providers.ts";
import { createReplyParts, type ReplyParts, type StreamPart } from "./reply-parts.ts";
import { withTextCalls } from "./text-calls.ts";
import { believedUsd, type Measured, measureUsage } from "./usage.ts";

interface AttemptInput {
  request: ModelRequest;
  model: LanguageModel;
  providerId: string;
  kind: ProviderKind;
  thinkingLevel: ThinkingSetting;
  /** Longest wait for the first token (`firstTokenMs`) and between tokens (`idleMs`), milliseconds. */
  firstTokenMs: number;
  idleMs: number;
  maxCharacters: number;
  /** When the reply has more tool calls than this, the rest of the stream is not read. */
  maxCalls: number;
  /**
   * The tools that the request describes in its text, so that calls come as text. Undefined when tools use the
   * provider's protocol.
   */
  textTools?: readonly ModelTool[] | undefined;
  clock: Clock;
  /**
   * Turns anything thrown into a failure without a key in it. `replied` says whether a part of the reply had arrived.
   */
  toFailure(error: unknown, replied: boolean): Failure;
}

export interface AttemptOutcome {
  parts: AssistantPart[];
  finish: FinishReason;
  /** Undefined when nothing was used, because the provider refused before it began. */
  used: Measured | undefined;
  /** Usage of earlier attempts that failed part way; `used` includes it. */
  usedBefore?: Measured | undefined;
  /** The charge that the provider reports, USD. */
  chargedUsd: number | undefined;
  /** Monotonic time of the first content. */
  firstTokenAt: number | undefined;
  /** Whether text or thinking has been passed to a listener. */
  shown: boolean;
  failure?: Failure;
}

function sdkTools(tools: readonly ModelTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
}

interface PartReader {
  read(): Promise<{ done: boolean; value?: StreamPart | undefined }>;
  cancel(): Promise<void>;
}

function openStream(input: AttemptInput, abortSignal: AbortSignal): PartReader {
  const { request, model, providerId, kind, thinkingLevel } = input;
  const system = sdkSystem(kind, request.system);
  const result = streamText({
    model,
    ...(system ? { instructions: system } : {}),
    messages: sdkMessages(providerId, kind, request.messages),
    ...(request.tools.length ? { tools: sdkTools(request.tools) } : {}),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...thinkingOptions(kind, thinkingLevel),
    providerOptions: providerOptions(kind, thinkingLevel),
    maxRetries: 0,
    abortSignal,
    // The default prints the error, which contains the request. Errors are also parts of the stream, where they are
    // read.
    onError: () => {},
  });
  return result.stream.getReader();
}

function usageOf(usage: StreamPart["usage"]): ModelUsage | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined;
  return {
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    cache_read_tokens: usage.inputTokenDetails?.cacheReadTokens ?? 0,
    cache_write_tokens: usage.inputTokenDetails?.cacheWriteTokens ?? 0,
    reasoning_tokens: usage.outputTokenDetails?.reasoningTokens ?? 0,
  };
}

const FINISH: Record<string, FinishReason> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** What the loop over the stream collects. */
interface Seen {
  /** The part that tells how the step ended. */
  end?: StreamPart;
  error?: unknown;
  failed: boolean;
  firstTokenAt?: number;
  tooLong: boolean;
  tooManyCalls: boolean;
}

/** Stops the stream when the caller aborts or no token arrives in time, and tells which of the two happened. */
function createWatch(input: AttemptInput) {
  const controller = new AbortController();
  let why: "aborted" | "timeout" | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopped = Promise.withResolvers<undefined>();
  const stop = (reason: "aborted" | "timeout") => {
    why ??= reason;
    stopped.resolve(undefined);
    controller.abort();
  };
  const onAbort = () => stop("aborted");
  if (input.request.signal.aborted) onAbort();
  else input.request.signal.addEventListener("abort", onAbort, { once: true });
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => stop("timeout"), ms);
  };
  wait(input.firstTokenMs);
  return {
    signal: controller.signal,
    stopped: stopped.promise,
    why: () => why,
    token: () => wait(input.idleMs),
    close() {
      clearTimeout(timer);
      input.request.signal.removeEventListener("abort", onAbort);
      controller.abort();
    },
  };
}

async function readAll(input: AttemptInput, parts: ReplyParts, watch: ReturnType<typeof createWatch>): Promise<Seen> {
  const seen: Seen = { failed: false, tooLong: false, tooManyCalls: false };
  try {
    const reader = openStream(input, watch.signal);
    const turn = takeTurns();
    for (;;) {
      // Parts that arrived together are not all read at once, so that other work gets its turn.
      await turn();
      const next = await Promise.race([reader.read(), watch.stopped]);
      const part = next?.value;
      if (part === undefined) break;
      if (parts.take(part)) {
        seen.firstTokenAt ??= input.clock.monotonic();
        watch.token();
      }
      if (part.type === "finish-step") seen.end = part;
      if (part.type === "error" && !seen.failed) {
        seen.failed = true;
        seen.error = membersOf(part)["error"];
      }
      seen.tooLong = parts.characters() > input.maxCharacters;
      seen.tooManyCalls = parts.calls() > input.maxCalls;
      if (seen.tooLong || seen.tooManyCalls) break;
    }
    reader.cancel().catch(() => {});
  } catch (error) {
    seen.failed = true;
    seen.error = error;
  }
  return seen;
}

function failureIn(input: AttemptInput, seen: Seen, why: "aborted" | "timeout" | undefined): Failure | undefined {
  if (why === "timeout") {
    const ms = seen.firstTokenAt === undefined ? input.firstTokenMs : input.idleMs;
    const message = `${input.providerId} sent no token for ${Math.round(ms / 1000)} seconds.`;
    return { code: "provider_timeout", message, retryable: true };
  }
  if (seen.failed) return input.toFailure(seen.error, seen.firstTokenAt !== undefined);
  const cut = !seen.end || seen.end.finishReason === "interrupted" || seen.end.finishReason === "error";
  const endless = seen.end?.finishReason === "other" && seen.end.rawFinishReason === undefined;
  if (!seen.tooLong && !seen.tooManyCalls && (cut || endless)) {
    const message = `${input.providerId} ended the stream before the reply was complete.`;
    return { code: "provider_error", message, retryable: true };
  }
  return undefined;
}

/** Turns calls that the model wrote as text into tool calls, and withdraws that text from those who follow the reply. */
function readTextCalls(input: AttemptInput, seen: Seen, parts: AssistantPart[]): AssistantPart[] {
  const { request, kind, textTools } = input;
  const isRead = textTools !== undefined || OWN_KINDS.has(kind);
  if (!isRead || seen.tooLong || seen.end?.finishReason === "length") return parts;
  const found = withTextCalls(parts, textTools ?? request.tools, () => `call_${crypto.randomUUID()}`);
  if (!found) return parts;
  request.onWithdrawn?.();
  if (found.said) request.onText?.(found.said);
  return found.parts;
}

function cutIn({ request, providerId, kind }: AttemptInput, { usage, estimated }: Measured): Failure | undefined {
  if (estimated) return undefined;
  return findTruncation({ kind, providerId, model: request.model }, () => textsOfRequest(request), usage.input_tokens);
}

export async function attempt(input: AttemptInput): Promise<AttemptOutcome> {
  const watch = createWatch(input);
  const parts = createReplyParts(input.providerId, input.request);
  const seen = await readAll(input, parts, watch);
  watch.close();
  const base = {
    used: undefined,
    chargedUsd: believedUsd(numberIn(membersOf(seen.end?.providerMetadata)["charged"], "usd")),
    firstTokenAt: seen.firstTokenAt,
    shown: parts.hasShown(),
  };
  const received = { parts: parts.all(), characters: parts.characters() };
  const used = measureUsage(input.request, received, usageOf(seen.end?.usage));
  if (watch.why() === "aborted") return { ...base, used, parts: parts.partial(), finish: "aborted" };
  const failure = failureIn(input, seen, watch.why()) ?? cutIn(input, used);
  const began = seen.firstTokenAt !== undefined || watch.why() === "timeout";
  if (failure) return { ...base, used: began ? used : undefined, parts: parts.partial(), finish: "error", failure };
  const said = seen.tooLong ? "length" : (FINISH[seen.end?.finishReason ?? ""] ?? "stop");
  // A reply that was cut within a call keeps none of its calls, because a half call must never be made, not even
  // repaired.
  if (said === "length" && parts.hasHalfCall()) return { ...base, used, parts: parts.partial(), finish: said };
  const all = readTextCalls(input, seen, parts.all());
  const calls = all.some((part) => part.type === "tool_call");
  return { ...base, used, parts: all, finish: calls && said === "stop" ? "tool_calls" : said };
}
