/**
 * Models, context windows and prices, offline. Prices come from the table of `@pydantic/genai-prices`, or from what an
 * administrator entered for a model. An unknown model costs `null`, never a guess. Local servers (Ollama, LM Studio,
 * vLLM) and the scripted model cost 0 per token unless an administrator entered a price.
 */
import type { Clock } from "../../core/clock.ts";
import { memoize } from "../../core/lazy.ts";
import type { ModelInfo, ModelReply, ModelUsage } from "../../engine/model.ts";
import type { Rates } from "./price-table.ts";
import { PROVIDERS, type ProviderEntry, providerEntry, splitModel } from "./providers.ts";

export interface CatalogueModel extends ModelInfo {
  name: string;
}

/** An administrator's settings for a model; missing fields stay as the table has them. */
export interface ModelOverride {
  id: string;
  name?: string | undefined;
  /** The window that was set. A server of one's own is also asked for it in requests. */
  context_window?: number | null | undefined;
  /** The window that the server says it serves, and the largest that the model supports. */
  served_window?: number | null | undefined;
  max_context_window?: number | null | undefined;
  max_output_tokens?: number | null | undefined;
  input_usd_per_mtok?: number | null | undefined;
  output_usd_per_mtok?: number | null | undefined;
  reasoning?: boolean | undefined;
  tools?: boolean | undefined;
  images?: boolean | undefined;
}

interface Cost {
  usd: number | null;
  source: ModelReply["cost_source"];
}

export type Catalogue = ReturnType<typeof createCatalogue>;

export interface CatalogueDeps {
  clock: Clock;
  /** An administrator's settings for a provider's models, read at every use. */
  overrides?: ((providerId: string) => readonly ModelOverride[]) | undefined;
}

/**
 * Abilities by model name, because the table does not tell them. A wrong guess only affects what a page shows; the
 * provider decides the call itself.
 */
const REASONING =
  /(^|\/)o\d|gpt-[5-9]|gpt-oss|claude-(3-7|(opus|sonnet|haiku|fable)-[4-9])|gemini-(2\.5|[3-9])|deepseek-(r1|reasoner|v[3-9])|qwen[3-9]|qwq|grok-(3-mini|[4-9]|code)|magistral|glm-[4-9]|kimi-k\d|thinking|reason|minimax-m/i;
const VISION =
  /gpt-(4o|4\.1|4-turbo|[5-9])|(^|\/)o[134](?!-mini)|o4-mini|claude-(3|(opus|sonnet|haiku|fable)-\d)|gemini-(1\.5|[2-9])|gemma-?[3-9]|llava|llama-?4|vision|pixtral|qwen[^q]*(vl|omni)|grok-[4-9]|mistral-(small-3|medium-3|large-3)|minicpm-v|internvl|kimi-k[2-9]\.|phi-4-multi/i;
const NO_TOOLS = /gpt-3\.5-turbo-instruct|claude-(2|v1|instant)|gemma-?2|phi-2|o1-(mini|preview)|gemini-(1\.0|pro$)/i;

const UNKNOWN: Rates = { input: null, output: null, context: null };

const prices = memoize((): typeof import("./price-table.ts") => require("./price-table.ts"));

function modelInfo(id: string, name: string, kind: string | undefined, rates: Rates, own?: ModelOverride): ModelInfo {
  return {
    id,
    context_window: own?.context_window ?? own?.served_window ?? rates.context,
    max_context_window: own?.max_context_window ?? rates.context,
    max_output_tokens: own?.max_output_tokens ?? null,
    input_usd_per_mtok: own?.input_usd_per_mtok ?? rates.input,
    output_usd_per_mtok: own?.output_usd_per_mtok ?? rates.output,
    reasoning: own?.reasoning ?? (kind !== "scripted" && REASONING.test(name)),
    tools: own?.tools ?? !NO_TOOLS.test(name),
    images: own?.images ?? VISION.test(name),
    // Other kinds take only text, or need the text of a document extracted beforehand.
    documents: VISION.test(name) && (kind === "anthropic" || kind === "openai" || kind === "google"),
  };
}

/**
 * Cache writes that are kept for an hour cost twice the plain input price. Only Anthropic reports them (its price
 * list).
 */
const HOUR_TIMES = 2;

/** USD by an administrator's own rates; undefined unless both rates were set. */
function ownUsd(own: ModelOverride | undefined, usage: ModelUsage): number | undefined {
  if (typeof own?.input_usd_per_mtok !== "number" || typeof own.output_usd_per_mtok !== "number") return undefined;
  const input = usage.input_tokens + (usage.cache_write_hour_tokens ?? 0) * (HOUR_TIMES - 1);
  return (input * own.input_usd_per_mtok + usage.output_tokens * own.output_usd_per_mtok) / 1e6;
}

export function createCatalogue({ clock, overrides }: CatalogueDeps) {
  const readDate = () => new Date(clock.now());
  const local: Rates = { input: 0, output: 0, context: null };
  const ownOf = (provider: string, name: string) =>
    overrides?.(provider).find((entry) => entry.id === name || entry.id === `${provider}/${name}`);

  function describeModel(model: string): ModelInfo {
    const parts = splitModel(model);
    const entry = parts && providerEntry(parts.provider);
    const name = parts?.name ?? model;
    const table = prices().tableOf(entry);
    const rates = entry?.local ? local : ((table && prices().ratesOf(table, name, readDate())) ?? UNKNOWN);
    return modelInfo(model, name, entry?.kind, rates, parts && ownOf(parts.provider, name));
  }

  /**
   * The window in tokens that an administrator set (null: not set), and the largest that the model supports (null:
   * unknown).
   */
  function readWindows(model: string): { wanted: number | null; most: number | null } {
    const parts = splitModel(model);
    const own = parts && ownOf(parts.provider, parts.name);
    return { wanted: own?.context_window ?? null, most: own?.max_context_window ?? null };
  }

  /** Text models of a provider, with ids `provider/model`. Empty for local servers, whose models are listed live. */
  function listModels(providerId: string): CatalogueModel[] {
    const entry = providerEntry(providerId);
    if (!entry) return [];
    const found = new Map<string, { name: string; rates: Rates }>();
    if (entry.kind === "scripted") found.set("scripted", { name: "Scripted transcript", rates: local });
    const table = prices().tableOf(entry);
    for (const { id, ...model } of table ? prices().tableModels(table, readDate()) : []) found.set(id, model);
    const listed = new Map<string, CatalogueModel>();
    for (const [id, { name, rates }] of found)
      listed.set(id, { ...modelInfo(`${providerId}/${id}`, id, entry.kind, rates, ownOf(providerId, id)), name });
    for (const own of overrides?.(providerId) ?? []) {
      const id = own.id.startsWith(`${providerId}/`) ? own.id.slice(providerId.length + 1) : own.id;
      listed.set(id, { ...describeModel(`${providerId}/${id}`), name: own.name ?? listed.get(id)?.name ?? id });
    }
    return [...listed.values()];
  }

  /** USD for that usage at current prices. */
  function computeCost(model: string, usage: ModelUsage): Cost {
    const parts = splitModel(model);
    const entry = parts && providerEntry(parts.provider);
    if (!parts || !entry) return { usd: null, source: "unknown" };
    const own = ownUsd(ownOf(parts.provider, parts.name), usage);
    if (own !== undefined) return { usd: own, source: "table" };
    if (entry.local) return { usd: 0, source: "table" };
    const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_hour_tokens = 0 } = usage;
    const table = prices().tableOf(entry);
    const priceOf = (counted: Record<string, number>) =>
      table ? prices().tablePrice(table, parts.name, counted, readDate()) : null;
    // The table has one price for cache writes. Hour-long writes are counted as plain input, and their surcharge is
    // added below.
    const written = { cache_read_tokens, cache_write_tokens: cache_write_tokens - cache_write_hour_tokens };
    const price = priceOf({ input_tokens, output_tokens, ...written });
    if (!price) return { usd: null, source: "unknown" };
    if (cache_write_hour_tokens === 0) return { usd: price.total_price, source: "table" };
    const plain = priceOf({ input_tokens, output_tokens: 0 })?.input_price ?? 0;
    const more = (plain / input_tokens) * cache_write_hour_tokens * (HOUR_TIMES - 1);
    return { usd: price.total_price + more, source: "table" };
  }

  /**
   * Upper estimate in USD: all input tokens at the highest price that can apply, and the full output. See `ModelPort`.
   */
  function estimateUsd(model: string, inputTokens: number, outputTokens: number, cachesForHour = false): number | null {
    const usage = { output_tokens: outputTokens, cache_read_tokens: 0, reasoning_tokens: 0, input_tokens: inputTokens };
    const plain = computeCost(model, { ...usage, cache_write_tokens: 0 }).usd;
    const forHour = cachesForHour ? { cache_write_hour_tokens: inputTokens } : {};
    const written = computeCost(model, { ...usage, cache_write_tokens: inputTokens, ...forHour }).usd;
    return plain === null ? null : Math.max(plain, written ?? 0);
  }

  return {
    providers: (): readonly ProviderEntry[] => PROVIDERS,
    provider: providerEntry,
    listModels,
    describeModel,
    readWindows,
    computeCost,
    estimateUsd,
  };
}
