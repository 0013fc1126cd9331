/** Turns texts into vectors for semantic search, with the providers' embedding models. */
import type { EmbeddingModel } from "ai";
import type { Clock } from "../../core/clock.ts";
import { messageOf, Problem } from "../../core/errors.ts";
import { type Endpoint, fetchVectors } from "./endpoint.ts";
import { type ModelPortDeps, resolveTarget } from "./model-port.ts";
import { OWN_KINDS } from "./providers.ts";
import { createScrubber } from "./scrubber.ts";
import { NO_USAGE } from "./usage.ts";

const MOST_DIMENSIONS = 8_192;
const createProblem = (detail: string) => new Problem(503, "embedding_failed", detail);

export function createEmbed(deps: Pick<ModelPortDeps, "keys" | "prices"> & { clock: Clock }) {
  const { prices, clock } = deps;
  /**
   * @returns one vector of length 1 per text, in the same order, and the call's figures for the log of calls.
   * @throws Problem 503 when the provider is not configured, fails, or returns something that is not a vector.
   */
  return async ({ model, texts, signal }: { model: string; texts: readonly string[]; signal: AbortSignal }) => {
    const to = await resolveTarget(deps, { model, userId: undefined });
    if ("code" in to) throw createProblem(to.message);
    const started = clock.monotonic();
    const scrub = createScrubber(to.apiKey);
    const { embedMany } = await import("ai");
    const result = await embedMany({
      model: await embeddingModel(to, to.name),
      values: [...texts],
      maxRetries: 0,
      abortSignal: signal,
    }).catch((error: unknown) => {
      throw createProblem(scrub(`${to.providerId} gave no embeddings: ${messageOf(error).slice(0, 300)}`));
    });
    const vectors = result.embeddings.map(unitVector);
    if (vectors.length !== texts.length || new Set(vectors.map(({ length }) => length)).size !== 1)
      throw createProblem(`${to.providerId} gave ${vectors.length} vectors for ${texts.length} texts.`);
    const usage = { ...NO_USAGE, input_tokens: result.usage.tokens || 0 };
    const cost = prices.computeCost(model, usage);
    return {
      vectors,
      call: {
        provider: to.providerId,
        model,
        key_source: to.source,
        usage,
        cost_usd: cost.usd,
        cost_source: cost.source,
        duration_ms: clock.monotonic() - started,
      },
    };
  };
}

/**
 * Scales a vector to length 1, so that the dot product of two is their similarity. @throws Problem when it is not a
 * vector.
 */
function unitVector(given: readonly number[]): Float32Array {
  const vector = Float32Array.from(given);
  let sum = 0;
  for (const one of vector) sum += one * one;
  if (!(vector.length > 0 && vector.length <= MOST_DIMENSIONS && Number.isFinite(sum) && sum > 0))
    throw createProblem("The provider gave an embedding that is not a vector.");
  const length = Math.sqrt(sum);
  return vector.map((one) => one / length);
}

async function embeddingModel(
  { kind, baseUrl: baseURL, providerId, apiKey = "" }: Endpoint,
  name: string,
): Promise<EmbeddingModel> {
  const fetch = fetchVectors;
  if (kind === "openai") {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL, apiKey, fetch }).embeddingModel(name);
  }
  if (kind === "google") {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ baseURL, apiKey, fetch }).embeddingModel(name);
  }
  if (!OWN_KINDS.has(kind)) throw createProblem(`${providerId} has no embedding models. Choose another provider.`);
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ name: providerId, baseURL, fetch, ...(apiKey ? { apiKey } : {}) }).embeddingModel(
    name,
  );
}
