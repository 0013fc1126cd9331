/**
 * A request in a provider's own protocol, passed on with the provider's key, and its answer passed back byte by byte.
 * What it used is read on the way; where the provider says nothing, the texts are measured.
 */
import { APICallError } from "ai";
import type { Clock } from "../../core/clock.ts";
import { membersOf, numberIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import type { FinishReason, ModelUsage, PassRequest } from "../../engine/model.ts";
import type { AttemptOutcome } from "./attempt.ts";
import { fetchUnread } from "./endpoint.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { ModelLimits } from "./limits.ts";
import type { CallTarget } from "./retries.ts";
import { createScrubber } from "./scrubber.ts";
import { believedUsd, type Measured, measuredBySize } from "./usage.ts";

export interface PassOutcome extends Pick<AttemptOutcome, "chargedUsd" | "firstTokenAt" | "usedBefore"> {
  finish: FinishReason;
  used: Measured | undefined;
  failure?: Failure;
}

export interface Passed {
  /** Undefined where there was no answer. */
  answer: Response | undefined;
  /** Never rejects. */
  ended: Promise<PassOutcome>;
}

const PATHS: Record<Exclude<PassRequest["protocol"], "gemini">, string> = {
  chat: "/chat/completions",
  responses: "/responses",
  messages: "/messages",
};
const pathOf = ({ protocol, stream }: PassRequest, model: string): string => {
  if (protocol !== "gemini") return PATHS[protocol];
  return `/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
};
/** Members that bound the reply; the last stands for those that a request does not name. */
const MOST: Record<PassRequest["protocol"], readonly [string, ...string[]]> = {
  chat: ["max_tokens", "max_completion_tokens"],
  responses: ["max_output_tokens"],
  messages: ["max_tokens"],
  gemini: ["maxOutputTokens"],
};
/** Headers of an answer that its client needs. */
const PASSED_BACK = ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];

interface Deps {
  clock: Clock;
  limits: Pick<ModelLimits, "firstTokenMs" | "idleMs">;
}

/** Local servers load a model first; models think before they speak. */
const PATIENCE = 5;

export async function passOn({ clock, limits }: Deps, request: PassRequest, to: CallTarget): Promise<Passed> {
  const scrub = createScrubber(to.apiKey);
  const failure = (error: unknown) =>
    failureOf(error, { provider: to.providerId, origin: new URL(to.baseUrl).origin, nowMs: clock.now(), scrub });
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  const watch = createWatch(() => stop.abort(new DOMException("silent", "TimeoutError")));
  const body = JSON.stringify(bodyFor(request, to.name));
  const sent = { bytes: Buffer.byteLength(body), characters: body.length, items: 1 };
  const url = `${to.baseUrl}${pathOf(request, to.name)}`;
  const none = { chargedUsd: undefined, firstTokenAt: undefined, used: undefined };
  const silent = (ms: number): Failure => ({
    code: "provider_timeout",
    message: `${to.providerId} sent nothing for ${Math.round(ms / 1_000)} seconds.`,
    retryable: true,
  });
  watch.wait(limits.firstTokenMs * PATIENCE);
  let answer: Response;
  try {
    answer = await fetchUnread(url, { method: "POST", headers: headersFor(request, to), body, signal });
    if (answer.status !== 200) {
      const failed = failure(await refusalOf(answer, url));
      watch.close();
      return { answer: undefined, ended: Promise.resolve({ ...none, finish: "error", failure: failed }) };
    }
  } catch (error) {
    watch.close();
    if (request.signal.aborted) return { answer: undefined, ended: Promise.resolve({ ...none, finish: "aborted" }) };
    const failed = stop.signal.aborted ? silent(limits.firstTokenMs * PATIENCE) : failure(error);
    return { answer: undefined, ended: Promise.resolve({ ...none, finish: "error", failure: failed }) };
  }
  const isStream = /^text\/event-stream/i.test(answer.headers.get("content-type") ?? "");
  const reader = isStream ? createEventReader(request.protocol) : createTextReader(request.protocol);
  const ended = Promise.withResolvers<PassOutcome>();
  let firstTokenAt: number | undefined;
  const end = (finish: FinishReason, failed?: Failure): void => {
    watch.close();
    const { usage, chargedUsd, received } = reader.end();
    const used = measuredBySize(sent, received, usage);
    ended.resolve({ finish, used, chargedUsd, firstTokenAt, ...(failed ? { failure: failed } : {}) });
  };
  const source = answer.body?.getReader();
  const passed = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await source?.read();
        if (!next || next.done) {
          end("stop");
          return controller.close();
        }
        firstTokenAt ??= clock.monotonic();
        watch.wait(limits.idleMs);
        reader.add(next.value);
        controller.enqueue(next.value);
      } catch (error) {
        if (request.signal.aborted) end("aborted");
        else end("error", stop.signal.aborted ? silent(limits.idleMs) : failure(error));
        controller.error(error);
      }
    },
    cancel() {
      stop.abort();
      end("aborted");
    },
  });
  const headers = PASSED_BACK.flatMap((name): [string, string][] => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { answer: new Response(passed, { headers }), ended: ended.promise };
}

function createWatch(onSilence: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    wait(ms: number) {
      clearTimeout(timer);
      timer = setTimeout(onSilence, ms);
    },
    close: () => clearTimeout(timer),
  };
}

/** The client's request, with the provider's name of the model; counts are asked for, and nothing is kept there. */
function bodyFor(request: PassRequest, model: string): Record<string, unknown> {
  const { protocol, body, maxOutputTokens } = request;
  if (protocol === "gemini") {
    const generationConfig = boundReply(membersOf(body["generationConfig"]), MOST.gemini, maxOutputTokens);
    return { ...body, generationConfig };
  }
  const asked = { ...boundReply(body, MOST[protocol], maxOutputTokens), model };
  if (protocol === "messages") return { ...asked, ...boundThinking(asked) };
  if (protocol === "responses") return { ...asked, store: false };
  if (body["stream"] !== true) return asked;
  return { ...asked, stream_options: { ...membersOf(body["stream_options"]), include_usage: true } };
}

/** No longer than that, whichever of its names the client uses. */
function boundReply(
  body: Readonly<Record<string, unknown>>,
  names: readonly [string, ...string[]],
  most: number | undefined,
): Record<string, unknown> {
  if (most === undefined) return { ...body };
  const given = names.filter((name) => body[name] !== undefined && body[name] !== null);
  const bounded = given.length > 0 ? given : names.slice(-1);
  return {
    ...body,
    ...Object.fromEntries(bounded.map((name) => [name, Math.min(most, numberIn(body, name) ?? most)])),
  };
}

const THINKING_LEAST = 1_024;

/** Thoughts must be shorter than the reply that they are a part of, or the request is refused. */
function boundThinking({ thinking, max_tokens }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const [budget, most] = [numberIn(thinking, "budget_tokens"), numberIn({ max_tokens }, "max_tokens")];
  if (budget === undefined || most === undefined || budget < most) return {};
  if (most <= THINKING_LEAST) return { thinking: { type: "disabled" } };
  return { thinking: { ...membersOf(thinking), budget_tokens: Math.max(THINKING_LEAST, most - 1) } };
}

function headersFor({ protocol, headers }: PassRequest, { apiKey = "" }: CallTarget): Record<string, string> {
  const json = { ...headers, "content-type": "application/json" };
  if (protocol === "gemini") return { ...json, "x-goog-api-key": apiKey };
  if (protocol !== "messages") return apiKey === "" ? json : { ...json, authorization: `Bearer ${apiKey}` };
  return { "anthropic-version": "2023-06-01", ...json, "x-api-key": apiKey };
}

/** A refusal in the form that failures are read from. */
async function refusalOf(answer: Response, url: string): Promise<APICallError> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > REFUSAL_BYTES) break;
    pieces.push(piece);
  }
  const responseBody = Buffer.concat(pieces).toString("utf8");
  const message = saidIn(responseBody) ?? "";
  return new APICallError({
    message,
    url,
    requestBodyValues: {},
    statusCode: answer.status,
    responseBody,
    responseHeaders: Object.fromEntries(answer.headers),
  });
}

const REFUSAL_BYTES = 64 * 1024;

function saidIn(text: string): string | undefined {
  try {
    const said = membersOf(membersOf(readJson(text))["error"])["message"];
    return typeof said === "string" ? said : undefined;
  } catch {
    return undefined;
  }
}

interface Reader {
  add(piece: Uint8Array): void;
  end(): {
    usage: ModelUsage | undefined;
    chargedUsd: number | undefined;
    received: { bytes: number; characters: number };
  };
}

/** Texts of a model in an event, by the names that the protocols give them. */
const TEXTS = /"(?:content|reasoning_content|delta|text|thinking|partial_json|arguments)":\s?"((?:[^"\\]|\\.)*)"/g;

function createEventReader(protocol: PassRequest["protocol"]): Reader {
  const counts = createCounts(protocol);
  let [bytes, characters] = [0, 0];
  const lines = createLineSplitter({
    maxBytes: LIMITS.providerEventBytes,
    onLine({ text, tail }) {
      if (tail !== undefined || !text.startsWith("data:")) return;
      if (text.includes('"usage"') || text.includes('"usageMetadata"')) counts.read(text.slice("data:".length));
      // The last event repeats the whole reply.
      if (text.includes('"response.completed"')) return;
      for (const [, said = ""] of text.matchAll(TEXTS)) characters += said.length;
    },
  });
  return {
    add(piece) {
      bytes += piece.byteLength;
      lines.add(piece);
    },
    end: () => ({ ...counts.all(), received: { bytes, characters } }),
  };
}

function createTextReader(protocol: PassRequest["protocol"]): Reader {
  const counts = createCounts(protocol);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    add(piece) {
      bytes += piece.byteLength;
      if (bytes <= LIMITS.providerAnswerBytes) pieces.push(piece);
    },
    end() {
      const text = Buffer.concat(pieces).toString("utf8");
      counts.read(text);
      let characters = 0;
      for (const [, said = ""] of text.matchAll(TEXTS)) characters += said.length;
      return { ...counts.all(), received: { bytes, characters } };
    },
  };
}

/** The counts of one reply; later ones replace earlier ones, field by field. */
function createCounts(protocol: PassRequest["protocol"]) {
  let found: Partial<ModelUsage> | undefined;
  let chargedUsd: number | undefined;
  return {
    read(text: string): void {
      try {
        const event = membersOf(readJson(text));
        const inner = membersOf(event["response"] ?? event["message"]);
        const usage = event["usage"] ?? inner["usage"] ?? event["usageMetadata"];
        const counted = COUNTS[protocol](usage);
        if (counted) found = { ...found, ...counted };
        chargedUsd = believedUsd(numberIn(usage, "cost")) ?? chargedUsd;
      } catch {
        // No JSON: the texts are measured.
      }
    },
    all: () => ({ usage: found && wholeOf(found, protocol), chargedUsd }),
  };
}

function openaiCounts(usage: unknown): Partial<ModelUsage> | undefined {
  const input = numberIn(usage, "prompt_tokens") ?? numberIn(usage, "input_tokens");
  const output = numberIn(usage, "completion_tokens") ?? numberIn(usage, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const of = membersOf(usage);
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    cache_read_tokens: numberIn(of["prompt_tokens_details"] ?? of["input_tokens_details"], "cached_tokens") ?? 0,
    reasoning_tokens: numberIn(of["completion_tokens_details"] ?? of["output_tokens_details"], "reasoning_tokens") ?? 0,
  };
}

function anthropicCounts(usage: unknown): Partial<ModelUsage> | undefined {
  const fields = {
    input_tokens: numberIn(usage, "input_tokens"),
    output_tokens: numberIn(usage, "output_tokens"),
    cache_read_tokens: numberIn(usage, "cache_read_input_tokens"),
    cache_write_tokens: numberIn(usage, "cache_creation_input_tokens"),
    cache_write_hour_tokens: numberIn(membersOf(usage)["cache_creation"], "ephemeral_1h_input_tokens"),
  };
  const said = Object.entries(fields).filter(([, count]) => count !== undefined);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** Thoughts are counted beside the words of the reply. */
function geminiCounts(usage: unknown): Partial<ModelUsage> | undefined {
  const prompt = numberIn(usage, "promptTokenCount");
  if (prompt === undefined) return undefined;
  const count = (name: string) => numberIn(usage, name) ?? 0;
  return {
    input_tokens: prompt + count("toolUsePromptTokenCount"),
    output_tokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    cache_read_tokens: count("cachedContentTokenCount"),
    reasoning_tokens: count("thoughtsTokenCount"),
  };
}

const COUNTS: Record<PassRequest["protocol"], (usage: unknown) => Partial<ModelUsage> | undefined> = {
  chat: openaiCounts,
  responses: openaiCounts,
  messages: anthropicCounts,
  gemini: geminiCounts,
};

/** Anthropic counts what was cached beside the rest of the input; here it is part of it. */
function wholeOf(found: Partial<ModelUsage>, protocol: PassRequest["protocol"]): ModelUsage {
  const { input_tokens = 0, output_tokens = 0, cache_read_tokens = 0 } = found;
  const { cache_write_tokens = 0, cache_write_hour_tokens = 0, reasoning_tokens = 0 } = found;
  const cached = protocol === "messages" ? cache_read_tokens + cache_write_tokens : 0;
  return {
    input_tokens: input_tokens + cached,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    ...(cache_write_hour_tokens > 0 ? { cache_write_hour_tokens } : {}),
    reasoning_tokens,
  };
}
