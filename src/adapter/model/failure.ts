/** Describes a failed call to a provider by a code that the engine knows and a sentence that never contains a key. */

import { APICallError } from "ai";
import { DAY_MS } from "../../core/clock.ts";
import { codeOf } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import { readBeginning } from "../../core/read-bounded.ts";

type FailureCode =
  | "provider_not_configured"
  | "provider_auth"
  | "provider_rate_limited"
  | "provider_timeout"
  | "provider_unreachable"
  | "context_too_long"
  | "context_truncated"
  | "provider_error";

export interface Failure {
  code: FailureCode;
  message: string;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** The wait that the provider asked for, milliseconds. */
  retryAfterMs?: number | undefined;
  /** Whether the work may wait that long and ask again. */
  isWait?: boolean;
  /** The provider refused the thinking level; the call may be made without one. */
  refusesThinking?: boolean;
  /** The model's server does not support tools; the call may be made with the tools described in its text. */
  refusesTools?: boolean;
}

/** Most bytes of a refusal's body that are read. */
const REFUSAL_BYTES = 64 * 1024;

/**
 * Turns a refusal into the error type that `failureOf` reads. @param messageIn extracts the provider's message from the
 * body.
 */
export async function refusalOf(
  answer: Response,
  url: string,
  messageIn: (body: string) => string,
): Promise<APICallError> {
  const responseBody = (await readBeginning(answer.body, REFUSAL_BYTES)).bytes.toString();
  return new APICallError({
    message: messageIn(responseBody),
    url,
    requestBodyValues: {},
    statusCode: answer.status,
    responseBody,
    responseHeaders: Object.fromEntries(answer.headers),
  });
}

const CONTEXT_SHAPE =
  /context.{0,20}(length|window|size|exceed)|prompt is too long|too many (input )?tokens|exceeds? the (maximum|available|context).{0,30}(tokens|length)/i;
/**
 * A text that matches both says that the model does not support the thinking it was asked for. An invalid signature in
 * the history must not match.
 */
const THINKING_SHAPE = /\breasoning|\bthink/i;
const REFUSAL_SHAPE = /support|unrecogni[sz]ed|unknown|not permitted|not allowed|not enabled|not available/i;
/**
 * Messages of servers without tools. Ollama: `gemma:latest does not support tools`; OpenRouter: `No endpoints found
 * that support tool use`; vLLM: `"auto" tool choice requires --enable-auto-tool-choice`; llama.cpp: `tools param
 * requires --jinja flag`; Groq and others: `tool calling is not supported with this model`.
 */
const NO_TOOLS_SHAPE =
  /(not|n't) support (tool|function)|that support tool use|(tools?|functions?)( use| calls?| calling)?`? (is|are) not supported|tool choice requires --enable-auto|tools param requires --jinja/i;
const NO_TOOLS_STATUSES: ReadonlySet<number> = new Set([400, 404, 422, 500, 501]);

/** `Retry-After` (seconds or a date) or `retry-after-ms`, in milliseconds; undefined when absent or unreadable. */
export function retryAfterMs(headers: Record<string, string> | undefined, nowMs: number): number | undefined {
  const precise = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(precise) && precise >= 0) return precise;
  const value = headers?.["retry-after"]?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // `Date.parse` would take "-3" for a year.
  const date = /^[A-Za-z]{3}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Longer waits than this are not believed, ms. */
const RESET_MOST_MS = 30 * DAY_MS;

/**
 * Milliseconds until a used-up quota is available again, from headers or body; undefined when the provider does not
 * tell.
 */
function resetAfterMs(headers: Record<string, string> | undefined, body: string, nowMs: number) {
  const known = retryAfterMs(headers, nowMs) ?? resetIn(body, nowMs) ?? resetHeader(headers, nowMs);
  return known !== undefined && known >= 0 && known <= RESET_MOST_MS ? known : undefined;
}

/**
 * Reads `resets_at` (seconds since the epoch, or a date), `resets_in_seconds`, or Google's `retryDelay` from the body.
 */
function resetIn(body: string, nowMs: number): number | undefined {
  const [, seconds] = /"(?:resets_in_seconds|retry_after)":\s*(\d{1,8})(?=[.,\s}])/.exec(body) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const [, epoch] = /"resets?_at":\s*(\d{9,11})\b/.exec(body) ?? [];
  if (epoch !== undefined) return Number(epoch) * 1_000 - nowMs;
  const [, date] = /"resets?_at":\s*"(\d{4}-[\dT:.Z+-]{6,30})"/.exec(body) ?? [];
  if (date !== undefined && !Number.isNaN(Date.parse(date))) return Date.parse(date) - nowMs;
  const [, delay] = /"retryDelay":\s*"(\d{1,8})(?:\.\d{1,9})?s"/.exec(body) ?? [];
  return delay === undefined ? undefined : Number(delay) * 1_000;
}

/** Reads Anthropic's or OpenRouter's header: a date, or seconds or milliseconds since the epoch. */
function resetHeader(headers: Record<string, string> | undefined, nowMs: number): number | undefined {
  const said = headers?.["anthropic-ratelimit-unified-reset"] ?? headers?.["x-ratelimit-reset"];
  if (said === undefined) return undefined;
  const number = Number(said);
  const at = Number.isNaN(number) ? Date.parse(said) : number > 1e12 ? number : number * 1_000;
  return Number.isNaN(at) || at < nowMs ? undefined : at - nowMs;
}

function detailOf(error: APICallError): string {
  const body = error.responseBody?.trim() ?? "";
  const plain = error.message && error.message !== "Unknown error" ? error.message : "";
  const bodyText = body && !body.startsWith("<") ? body : "";
  return plain || bodyText;
}

function ofStatus(error: APICallError, status: number, { provider, hasKey, nowMs }: About): Failure {
  const { responseHeaders: headers, responseBody: body = "" } = error;
  const detail = detailOf(error);
  const text = `${detail} ${body}`;
  const createFailure = (code: FailureCode, what: string, more: Partial<Failure> = {}): Failure => ({
    code,
    message: detail ? `${what}: ${detail}` : `${what}.`,
    retryable: false,
    ...more,
  });
  // Google answers 400 for a wrong key.
  if (status === 401 || (status === 400 && /API_KEY_INVALID|API key not valid/i.test(text))) {
    const message = hasKey
      ? `${provider} refused the key (${status}). Check the key.`
      : `${provider} asks for a key (${status}), and none is stored. Store one: skep providers set ${provider} --key`;
    return { code: "provider_auth", message, retryable: false };
  }
  if (status === 403) return createFailure("provider_auth", `${provider} does not allow this (403)`);
  const readReset = () => ({ retryAfterMs: resetAfterMs(headers, body, nowMs) });
  if (status === 402 || (status === 429 && /insufficient_quota|billing|credit balance/i.test(text)))
    return createFailure("provider_rate_limited", `${provider}: the quota is used up`, readReset());
  if (status === 429)
    return createFailure("provider_rate_limited", `${provider} limits the rate (429)`, {
      retryable: true,
      ...readReset(),
    });
  if (status >= 300 && status < 400) {
    const message = `${provider} answered with a redirect (${status}); it is not followed, so that the key goes to no other host. Correct the base URL.`;
    return { code: "provider_error", message, retryable: false };
  }
  if (NO_TOOLS_STATUSES.has(status) && NO_TOOLS_SHAPE.test(text))
    return createFailure("provider_error", `${provider} gives this model no tools`, { refusesTools: true });
  if (status === 413 || (status === 400 && CONTEXT_SHAPE.test(text)))
    return createFailure("context_too_long", `The prompt does not fit ${provider}'s model`);
  if (status === 408 || status >= 500) {
    const later = { retryable: true, retryAfterMs: retryAfterMs(headers, nowMs) };
    return createFailure("provider_error", `${provider} failed (${status})`, later);
  }
  const refusesThinking = status === 400 && THINKING_SHAPE.test(text) && REFUSAL_SHAPE.test(text);
  return createFailure("provider_error", `${provider} refused the call (${status})`, { refusesThinking });
}

/**
 * The runtime adds this advice to its network errors. It is for the author of the call, not for the reader of the
 * message.
 */
const RUNTIME_ADVICE = " For more information, pass `verbose";

/** The text of an error in a stream, whatever its shape. */
function textOf(error: unknown): string {
  if (typeof error === "string") return error;
  if (error instanceof Error) return error.message.split(RUNTIME_ADVICE)[0] ?? "";
  if (typeof error === "object" && error !== null) {
    const { message, error: inner } = membersOf(error);
    if (typeof message === "string") return message;
    if (inner !== undefined) return textOf(inner);
  }
  return "unknown error";
}

const NETWORK = /connect|socket|ECONN|EPIPE|ENOTFOUND|network|certificate|TLS|fetch failed|closed unexpectedly|DNS/i;

/** What is known about the call that failed. */
interface About {
  provider: string;
  /** Origin of the host that was called. */
  origin: string;
  /** Whether the call carried a key. */
  hasKey: boolean;
  nowMs: number;
  scrub(text: string): string;
  /** Whether a part of the reply had arrived. */
  replied?: boolean;
}

/** Classifies anything that a provider's client throws or that a stream reports as an error. */
export function failureOf(error: unknown, about: About): Failure {
  const { provider, origin, scrub } = about;
  const clean = (failure: Failure): Failure => ({ ...failure, message: scrub(failure.message) });
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode !== 200)
    return clean(ofStatus(error, error.statusCode, about));
  const cause = error instanceof Error && error.cause !== undefined ? ` ${textOf(error.cause)}` : "";
  const text = `${textOf(error)}${cause}`;
  const code = codeOf(error);
  if (/JSON/i.test(text) || (error instanceof Error && /JSONParse|TypeValidation|InvalidResponse/.test(error.name)))
    return clean({
      code: "provider_error",
      message: `${provider} sent what is not a valid reply: ${text}`,
      retryable: true,
    });
  if (NETWORK.test(text) || (code !== undefined && NETWORK.test(code))) {
    // With status 200 the server had answered, so a message about its address would mislead people.
    const answered = about.replied || (APICallError.isInstance(error) && error.statusCode !== undefined);
    const message = answered
      ? `${provider} at ${origin} broke off in the middle of its reply:${cause || ` ${textOf(error)}`}`
      : `No connection to ${provider} at ${origin}: ${textOf(error)}`;
    return clean({ code: "provider_unreachable", message, retryable: true });
  }
  return clean({ code: "provider_error", message: `${provider} failed: ${text}`, retryable: true });
}
