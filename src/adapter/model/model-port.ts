/**
 * The engine's model port: Anthropic, OpenAI, Google and every OpenAI-compatible server through the AI SDK, and the
 * scripted model. A call never throws: every outcome is a reply. No reply, error or log line contains a key.
 *
 * Usage: `input_tokens` counts all input, including cached input. A refused call costs 0. When a call began but
 * reported no usage, or an impossible one, its texts are measured and charged. Parts of an aborted or failed reply hold
 * no tool calls.
 */
import type { Clock } from "../../core/clock.ts";
import type { ModelPort, ModelReply, ModelRequest, PassedOn, PassRequest } from "../../engine/model.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { Catalogue } from "./catalogue.ts";
import { createCircuit } from "./circuit.ts";
import type { Failure } from "./failure.ts";
import { MODEL_LIMITS, type ModelLimits } from "./limits.ts";
import type { PassOutcome } from "./pass.ts";
import { normalizeBaseUrl, OWN_KINDS, type ProviderKind, splitModel } from "./providers.ts";
import type { CallTarget, ModelLog } from "./retries.ts";
import { createWindows, type ServedWindow } from "./served-window.ts";
import { NO_USAGE, refusedReply } from "./usage.ts";

/** A provider's configuration for a user. The user's own key takes precedence. */
export interface ResolvedProvider {
  /** Undefined when no key is needed (local servers). */
  apiKey?: string | undefined;
  source: ModelReply["key_source"];
  /** Address set by an administrator; the provider's default when undefined. */
  baseUrl?: string | undefined;
  /** Protocol of a `custom-*` provider that does not speak OpenAI's. */
  kind?: ProviderKind | undefined;
}

export interface ModelKeys {
  /** Undefined when the provider is not configured, or switched off. */
  resolve(providerId: string, userId?: string): ResolvedProvider | undefined | Promise<ResolvedProvider | undefined>;
}

export interface ModelPortDeps {
  keys: ModelKeys;
  /** Providers, context windows and prices. */
  prices: Catalogue;
  clock: Clock;
  /** Plays `demo/*`. */
  scripted: Pick<ModelPort, "call">;
  log?: ModelLog | undefined;
  limits?: Partial<ModelLimits> | undefined;
}

const notConfigured = (message: string): Failure => ({ code: "provider_not_configured", message, retryable: false });

export async function resolveTarget(
  { keys, prices }: Pick<ModelPortDeps, "keys" | "prices">,
  request: Pick<ModelRequest, "model" | "userId">,
): Promise<CallTarget | Failure> {
  const parts = splitModel(request.model);
  const entry = parts && prices.provider(parts.provider);
  if (!parts || !entry)
    return notConfigured(`There is no provider for the model "${request.model}"; write provider/model.`);
  const found = await keys.resolve(entry.id, request.userId);
  const how = entry.envVar ? ` Give it a key under providers, or set ${entry.envVar}.` : "";
  if (!found) return notConfigured(`The provider ${entry.id} is not configured.${how}`);
  const kind = found.kind ?? entry.kind;
  const baseUrl = normalizeBaseUrl(entry, found.baseUrl);
  if (!baseUrl) return notConfigured(`The provider ${entry.id} has no usable base URL.`);
  if (!found.apiKey && !OWN_KINDS.has(kind)) return notConfigured(`The provider ${entry.id} has no key.${how}`);
  const { apiKey, source } = found;
  const takesTools = prices.describeModel(request.model).tools;
  return { providerId: entry.id, kind, baseUrl, apiKey, source, name: parts.name, local: entry.local, takesTools };
}

/** The protocols of each kind of provider, in which requests can be passed on. */
const PROTOCOLS: Partial<Record<ProviderKind, readonly PassRequest["protocol"][]>> = {
  anthropic: ["messages"],
  openai: ["chat", "responses"],
  "openai-compatible": ["chat"],
  google: ["gemini"],
};
const canSpeak = (kind: ProviderKind, protocol: PassRequest["protocol"]): boolean =>
  PROTOCOLS[kind]?.includes(protocol) ?? false;

function costOf(
  prices: Catalogue,
  model: string,
  outcome: Pick<AttemptOutcome, "chargedUsd" | "used" | "usedBefore">,
): Pick<ModelReply, "cost_usd" | "cost_source"> {
  const { chargedUsd, used, usedBefore } = outcome;
  if (chargedUsd !== undefined) {
    // The provider's charge covers only the last attempt.
    const before = usedBefore ? (prices.computeCost(model, usedBefore.usage).usd ?? 0) : 0;
    return { cost_usd: chargedUsd + before, cost_source: "provider" };
  }
  if (!used) return { cost_usd: 0, cost_source: "table" };
  const cost = prices.computeCost(model, used.usage);
  return { cost_usd: cost.usd, cost_source: cost.source };
}

/** `retry_at` tells the engine when the provider answers again, so that it can wait. */
const errorOf = ({ code, message, retryable, retryAfterMs, isWait }: Failure, nowMs: number) => ({
  error: {
    code,
    message,
    retryable,
    ...((isWait || code === "provider_rate_limited") && retryAfterMs !== undefined
      ? { retry_at: nowMs + retryAfterMs }
      : {}),
  },
});

const toFailedReply = (
  request: Pick<ModelRequest, "model">,
  failure: Failure,
  durationMs: number,
  nowMs = 0,
): ModelReply => refusedReply(request.model, errorOf(failure, nowMs).error, durationMs);

/** Makes the model port over real providers; `demo/*` goes to the scripted model. */
export function createModelPort(deps: ModelPortDeps): ModelPort {
  const { prices, clock, log } = deps;
  const limits: ModelLimits = { ...MODEL_LIMITS, ...deps.limits };
  const refusedThinking = new Set<string>();
  const refusedTools = new Set<string>();
  const askWindow = createWindows(clock);
  const circuit = createCircuit(clock);
  // Otherwise the SDK prints its warnings (a parameter that a model ignores) to standard error.
  globalThis.AI_SDK_LOG_WARNINGS = false;

  /** The window that is served: a server of one's own is asked, for other providers the table knows. */
  async function servedBy(to: CallTarget, model: string, signal: AbortSignal): Promise<ServedWindow> {
    const isOwn = OWN_KINDS.has(to.kind) && (to.local || to.providerId.startsWith("custom-"));
    if (!isOwn) return { tokens: prices.describeModel(model).context_window };
    const window = await askWindow({
      endpoint: to,
      name: to.name,
      ...prices.readWindows(model),
      mayLoad: true,
      signal,
    });
    return { ...window, tokens: window.tokens ?? prices.describeModel(model).context_window };
  }

  async function windowOf({ model, userId, signal }: Parameters<NonNullable<ModelPort["windowOf"]>>[0]) {
    if (model.startsWith("demo/")) return prices.describeModel(model).context_window;
    try {
      const to = await resolveTarget(deps, { model, userId });
      return "code" in to ? prices.describeModel(model).context_window : (await servedBy(to, model, signal)).tokens;
    } catch {
      // If the key store fails, the call itself reports it.
      return prices.describeModel(model).context_window;
    }
  }

  async function makeCall(request: ModelRequest, started: number): Promise<ModelReply> {
    const to = await resolveTarget(deps, request);
    if ("code" in to) return toFailedReply(request, to, clock.monotonic() - started);
    const line = JSON.stringify([to.providerId, to.baseUrl, to.source]);
    const rest = circuit.refusal(to.providerId, line);
    if (rest) return toFailedReply(request, rest, clock.monotonic() - started, clock.now());
    const { callWithRetries } = await import("./retries.ts");
    const window = await servedBy(to, request.model, request.signal);
    const most = prices.describeModel(request.model).max_output_tokens;
    const bounded =
      most === null ? request : { ...request, maxOutputTokens: Math.min(most, request.maxOutputTokens ?? most) };
    const { outcome, attempts } = await callWithRetries(
      { clock, limits, log, refusedThinking, refusedTools },
      bounded,
      { ...to, window: window.ask },
    );
    if (outcome.finish !== "aborted") circuit.recordEnd(line, outcome.failure);
    return { parts: outcome.parts, attempts, ...replyOf(request.model, to, outcome, started) };
  }

  const replyOf = (model: string, to: CallTarget, outcome: PassOutcome, started: number) => ({
    finish: outcome.finish,
    usage: outcome.used?.usage ?? NO_USAGE,
    usage_estimated: outcome.used?.estimated ?? false,
    ...costOf(prices, model, outcome),
    key_source: to.source,
    provider: to.providerId,
    model,
    duration_ms: clock.monotonic() - started,
    time_to_first_token_ms: outcome.firstTokenAt === undefined ? null : outcome.firstTokenAt - started,
    ...(outcome.failure ? errorOf(outcome.failure, clock.now()) : {}),
  });

  /** Handles a failing key store. Its message may contain secrets, so it is not used. */
  function refuseBroken(request: Pick<ModelRequest, "model">, error: unknown, started: number): ModelReply {
    log?.warn({ model: request.model, kind: error instanceof Error ? error.name : typeof error }, "model call broke");
    const failure: Failure = { code: "provider_error", message: "The call could not be made.", retryable: true };
    return toFailedReply(request, failure, clock.monotonic() - started);
  }

  async function call(request: ModelRequest): Promise<ModelReply> {
    if (request.model.startsWith("demo/")) return deps.scripted.call(request);
    const started = clock.monotonic();
    try {
      return await makeCall(request, started);
    } catch (error) {
      return refuseBroken(request, error, started);
    }
  }

  async function pass(request: PassRequest): Promise<PassedOn | ModelReply | undefined> {
    const started = clock.monotonic();
    const asRequest = { model: request.model };
    try {
      if (request.model.startsWith("demo/")) return undefined;
      const to = await resolveTarget(deps, request);
      if ("code" in to) return toFailedReply(asRequest, to, clock.monotonic() - started);
      // If the model needs its tools in the text, the request cannot be passed on, and the caller makes it as an
      // ordinary call.
      const isInText = !to.takesTools || refusedTools.has(request.model);
      if (isInText || !canSpeak(to.kind, request.protocol)) return undefined;
      const line = JSON.stringify([to.providerId, to.baseUrl, to.source]);
      const rest = circuit.refusal(to.providerId, line);
      if (rest) return toFailedReply(asRequest, rest, clock.monotonic() - started, clock.now());
      const [{ passOn }, { remember }] = await Promise.all([import("./pass.ts"), import("./retries.ts")]);
      const { answer, ended } = await passOn({ clock, limits }, request, to);
      const passedReply = (outcome: PassOutcome): ModelReply => {
        if (outcome.finish !== "aborted") circuit.recordEnd(line, outcome.failure);
        return { parts: [], attempts: 1, ...replyOf(request.model, to, outcome, started) };
      };
      if (!answer) {
        const outcome = await ended;
        if (!outcome.failure?.refusesTools) return passedReply(outcome);
        remember(refusedTools, request.model);
        return undefined;
      }
      return { answer, reply: ended.then(passedReply) };
    } catch (error) {
      return refuseBroken(asRequest, error, started);
    }
  }

  return { call, pass, windowOf, info: prices.describeModel, estimateUsd: prices.estimateUsd };
}
