/**
 * Passes on a request in a provider's own protocol, with the provider's key, and passes its answer back byte by byte.
 * The usage is read on the way; if the provider does not report it, the texts are measured.
 */
import type { Clock } from "../../core/clock.ts";
import { membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";
import type { FinishReason, PassRequest } from "../../engine/model.ts";
import type { AttemptOutcome } from "./attempt.ts";
import { needsMarks, withCacheMarks } from "./cache-marks.ts";
import { fetchUnread } from "./endpoint.ts";
import { type Failure, failureOf, refusalOf } from "./failure.ts";
import type { ModelLimits } from "./limits.ts";
import { createEventCounter, createWholeCounter } from "./pass-counts.ts";
import { findTruncation, textsOfBody } from "./prompt-cut.ts";
import type { CallTarget } from "./retries.ts";
import { createScrubber } from "./scrubber.ts";
import { type Measured, measureUsageBySize } from "./usage.ts";

export interface PassOutcome extends Pick<AttemptOutcome, "chargedUsd" | "firstTokenAt" | "usedBefore"> {
  finish: FinishReason;
  used: Measured | undefined;
  failure?: Failure;
}

export interface Passed {
  /** Undefined when the provider gave no usable answer. */
  answer: Response | undefined;
  /** How the call ended; never rejects. */
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
/** Members of a request that bound the reply. When a request has none of them, the last one is added. */
const MOST: Record<PassRequest["protocol"], readonly [string, ...string[]]> = {
  chat: ["max_tokens", "max_completion_tokens"],
  responses: ["max_output_tokens"],
  messages: ["max_tokens"],
  gemini: ["maxOutputTokens"],
};
/** Headers of the provider's answer that are passed back. */
const PASSED_BACK = ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];

interface Deps {
  clock: Clock;
  limits: Pick<ModelLimits, "firstTokenMs" | "idleMs">;
}

/** Factor for the first wait, because local servers load a model first, and models think before they answer. */
const PATIENCE = 5;

export async function passOn({ clock, limits }: Deps, request: PassRequest, to: CallTarget): Promise<Passed> {
  const scrub = createScrubber(to.apiKey);
  const hasKey = to.apiKey !== undefined;
  const about = { provider: to.providerId, origin: new URL(to.baseUrl).origin, hasKey, scrub };
  const toFailure = (error: unknown) => failureOf(error, { ...about, nowMs: clock.now() });
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  const watch = createWatch(() => stop.abort(new DOMException("silent", "TimeoutError")));
  const asked = bodyFor(request, to.name);
  const body = JSON.stringify(needsMarks(to, to.name) ? withCacheMarks(asked) : asked);
  const sent = { bytes: Buffer.byteLength(body), characters: body.length, items: 1 };
  const url = `${to.baseUrl}${pathOf(request, to.name)}`;
  const none = { chargedUsd: undefined, firstTokenAt: undefined, used: undefined };
  const createSilenceFailure = (ms: number): Failure => ({
    code: "provider_timeout",
    message: `${to.providerId} sent nothing for ${Math.round(ms / 1_000)} seconds.`,
    retryable: true,
  });
  watch.wait(limits.firstTokenMs * PATIENCE);
  let answer: Response;
  try {
    answer = await fetchUnread(url, { method: "POST", headers: headersFor(request, to), body, signal });
    if (answer.status !== 200) {
      const failed = toFailure(await refusalOf(answer, url, messageIn));
      watch.close();
      return { answer: undefined, ended: Promise.resolve({ ...none, finish: "error", failure: failed }) };
    }
  } catch (error) {
    watch.close();
    if (request.signal.aborted) return { answer: undefined, ended: Promise.resolve({ ...none, finish: "aborted" }) };
    const failed = stop.signal.aborted ? createSilenceFailure(limits.firstTokenMs * PATIENCE) : toFailure(error);
    return { answer: undefined, ended: Promise.resolve({ ...none, finish: "error", failure: failed }) };
  }
  const isStream = /^text\/event-stream/i.test(answer.headers.get("content-type") ?? "");
  const counter = isStream ? createEventCounter(request.protocol) : createWholeCounter(request.protocol);
  const ended = Promise.withResolvers<PassOutcome>();
  let firstTokenAt: number | undefined;
  const end = (finish: FinishReason, failed?: Failure): Failure | undefined => {
    watch.close();
    const { usage, chargedUsd, received } = counter.end();
    const used = measureUsageBySize(sent, received, usage);
    const by = { kind: to.kind, providerId: to.providerId, model: request.model };
    const isWhole = finish === "stop" && !used.estimated;
    const cut = isWhole ? findTruncation(by, () => textsOfBody(request), used.usage.input_tokens) : undefined;
    const failure = failed ?? cut;
    const rest = { used, chargedUsd, firstTokenAt };
    ended.resolve(failure ? { ...rest, finish: "error", failure } : { ...rest, finish });
    return failure;
  };
  const source = answer.body?.getReader();
  const passed = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await source?.read();
        if (!next || next.done) {
          const failed = end("stop");
          // The server cut the prompt. The client's stream ends with an error, so that the client does not trust the
          // answer.
          if (failed) controller.error(new Error(failed.message));
          else controller.close();
          return;
        }
        firstTokenAt ??= clock.monotonic();
        watch.wait(limits.idleMs);
        counter.add(next.value);
        controller.enqueue(next.value);
      } catch (error) {
        if (request.signal.aborted) end("aborted");
        else end("error", stop.signal.aborted ? createSilenceFailure(limits.idleMs) : toFailure(error));
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

/**
 * One timer for a whole stream. A later deadline does not move the timer: it rings early and is set again for the rest.
 */
function createWatch(onSilence: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [due, rings] = [0, 0];
  const ring = (): void => {
    const left = due - performance.now();
    if (left > 0) set(left);
    else onSilence();
  };
  const set = (ms: number): void => {
    rings = performance.now() + ms;
    timer = setTimeout(ring, ms);
  };
  return {
    wait(ms: number) {
      due = performance.now() + ms;
      if (timer !== undefined && rings <= due) return;
      clearTimeout(timer);
      set(ms);
    },
    close: () => clearTimeout(timer),
  };
}

/** The client's request with the provider's model name. It also asks for usage counts, and for nothing to be stored. */
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

/** Bounds the reply to `most` tokens, whichever of the names the client uses. */
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

/** The thinking budget must be smaller than the reply's bound, or the provider refuses the request. */
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

const messageIn = (body: string): string => textIn(readMembers(body)["error"], "message") ?? "";
