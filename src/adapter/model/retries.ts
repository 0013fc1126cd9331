/**
 * Repeats a failed call with jittered back-off: after 429, 408, 5xx, lost connections, cut streams and replies that are
 * not JSON. If a part of the reply was already shown, it is withdrawn first. Other 4xx and time-outs are never
 * repeated.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ModelReply, ModelRequest } from "../../engine/model.ts";
import { type AttemptOutcome, attempt } from "./attempt.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Failure, failureOf } from "./failure.ts";
import { languageModel, type ThinkingSetting } from "./language-model.ts";
import type { ModelLimits } from "./limits.ts";
import { createScrubber } from "./scrubber.ts";
import { withToolsInText } from "./text-tools.ts";
import { type Measured, usageSum } from "./usage.ts";

export interface ModelLog {
  warn(fields: Record<string, unknown>, message: string): void;
}

const PATIENCE = 5;

/** The destination of a call, and whose key it uses. */
export interface CallTarget extends Endpoint {
  /** The model's name at the provider. */
  name: string;
  source: ModelReply["key_source"];
  local: boolean;
  /** False when the model's server is known not to support tools. */
  takesTools: boolean;
  /** Window in tokens to ask for, if a request can. */
  window?: number | undefined;
}

export interface CallDeps {
  clock: Clock;
  limits: ModelLimits;
  log?: ModelLog | undefined;
  /** Models (`provider/model`) that have refused a thinking level; later calls send none. */
  refusedThinking: Set<string>;
  /** Models whose servers have refused tools; later calls describe the tools in their text. */
  refusedTools: Set<string>;
}

const REFUSED_MODELS = 1000;

/** Remembers a model that has refused something. */
export function remember(refused: Set<string>, model: string): void {
  if (refused.size >= REFUSED_MODELS) refused.clear();
  refused.add(model);
}

/** Milliseconds to wait after `made` attempts; undefined when the call must not be repeated or the wait is too long. */
export function backoffMs(limits: ModelLimits, made: number, failure: Failure, random = Math.random()) {
  if (!failure.retryable || failure.code === "provider_timeout") return undefined;
  const asked = failure.retryAfterMs;
  // The wait is a little longer than asked, so that parallel executions do not all return at the same instant.
  if (asked !== undefined) return asked <= limits.retryAfterMaxMs ? asked + random * 250 : undefined;
  const ceiling = Math.min(limits.backoffMaxMs, limits.backoffMs * 2 ** (made - 1));
  return ceiling / 2 + (random * ceiling) / 2;
}

function sumMeasured(a: Measured | undefined, b: Measured | undefined): Measured | undefined {
  if (!a || !b) return a ?? b;
  return { usage: usageSum(a.usage, b.usage), estimated: a.estimated || b.estimated };
}

/** Makes the call until it succeeds, must not be repeated, or all attempts are used up. */
export async function callWithRetries(
  { clock, limits, log, refusedThinking, refusedTools }: CallDeps,
  request: ModelRequest,
  to: CallTarget,
): Promise<{ outcome: AttemptOutcome; attempts: number }> {
  let earlier: Measured | undefined;
  const addEarlier = (outcome: AttemptOutcome): AttemptOutcome => ({
    ...outcome,
    used: sumMeasured(earlier, outcome.used),
    usedBefore: earlier,
  });
  const scrub = createScrubber(to.apiKey);
  const hasKey = to.apiKey !== undefined;
  const about = { provider: to.providerId, origin: new URL(to.baseUrl).origin, hasKey, scrub };
  const toFailure = (error: unknown, replied: boolean) => failureOf(error, { ...about, nowMs: clock.now(), replied });
  const model = await languageModel(to, to.name, to.window);
  for (let made = 1; ; made++) {
    const thinkingLevel: ThinkingSetting = refusedThinking.has(request.model) ? "default" : request.thinkingLevel;
    const patience = to.local || thinkingLevel !== "off" ? PATIENCE : 1;
    const isInText = !to.takesTools || refusedTools.has(request.model);
    const outcome = await attempt({
      request: isInText ? withToolsInText(request) : request,
      textTools: isInText ? request.tools : undefined,
      model,
      providerId: to.providerId,
      kind: to.kind,
      thinkingLevel,
      firstTokenMs: limits.firstTokenMs * patience,
      idleMs: limits.idleMs,
      maxCharacters: limits.replyCharacters,
      maxCalls: LIMITS.callsPerReply,
      clock,
      toFailure,
    });
    const failed = outcome.failure;
    if (!failed || made >= limits.attempts) return { outcome: addEarlier(outcome), attempts: made };
    const fields = {
      provider: to.providerId,
      model: to.name,
      attempt: made,
      code: failed.code,
      reason: failed.message,
    };
    if (failed.refusesThinking && thinkingLevel !== "default") {
      log?.warn(fields, "the model refuses the thinking level; called without");
      remember(refusedThinking, request.model);
      continue;
    }
    if (failed.refusesTools && !isInText) {
      log?.warn(fields, "the model is given no tools; called with them in its text");
      remember(refusedTools, request.model);
      continue;
    }
    const waitMs = backoffMs(limits, made, failed);
    if (waitMs === undefined) return { outcome: addEarlier(outcome), attempts: made };
    log?.warn({ ...fields, wait_ms: Math.round(waitMs) }, "model call failed, trying again");
    await sleep(waitMs, undefined, { signal: request.signal }).catch(() => {});
    const { failure: _, ...rest } = addEarlier(outcome);
    if (request.signal.aborted) return { outcome: { ...rest, finish: "aborted" }, attempts: made };
    earlier = sumMeasured(earlier, outcome.used);
    if (outcome.shown) request.onWithdrawn?.();
  }
}
