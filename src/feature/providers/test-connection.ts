/** Tests a provider: does it answer with this key, and which models does it list now? */
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import type { Endpoint } from "../../adapter/model/endpoint.ts";
import type { ProviderEntry } from "../../adapter/model/providers.ts";
import { expectFound, notFound } from "../../core/errors.ts";
import type { SeenModel } from "../../store/tables/providers.ts";
import { assertBaseUrl } from "./base-url.ts";
import type { ProviderKeys } from "./keys.ts";
import type { ProviderModel, ProviderTest } from "./model.ts";

/** Lists the models. It never throws, is bounded in time, and its error contains no key. */
type ListModels = (
  endpoint: Endpoint,
) => Promise<{ ok: boolean; models: SeenModel[]; latency_ms: number; error?: string; keyRefused?: boolean }>;

interface ConnectionDeps {
  catalogue: Pick<Catalogue, "provider" | "describeModel">;
  keys: ProviderKeys;
  listModels: ListModels;
  normalizeBaseUrl(entry: ProviderEntry, given?: string): string | undefined;
  saw(id: string, models: SeenModel[]): void;
  /** Receives the result of a test with a stored key. */
  onTest(providerId: string, refused: boolean, userId?: string): void;
}

/** Values to test instead of the stored ones. A stored key is never sent to an address given here. */
interface Tried {
  api_key?: string | undefined;
  base_url?: string | undefined;
}

export type TestConnection = (id: string, tried: Tried, userId?: string) => Promise<ProviderTest>;

export function createTestConnection(deps: ConnectionDeps): TestConnection {
  const { catalogue, keys, listModels, normalizeBaseUrl, saw, onTest } = deps;
  const present = (id: string, { id: name, ...seen }: SeenModel): ProviderModel => {
    const known = catalogue.describeModel(`${id}/${name}`);
    return {
      ...known,
      name: seen.name,
      context_window: seen.context_window ?? known.context_window,
      max_context_window: seen.max_context_window ?? known.max_context_window,
      reasoning: seen.reasoning ?? known.reasoning,
      tools: seen.tools ?? known.tools,
      images: seen.images ?? known.images,
    };
  };
  return async (id, tried, userId) => {
    const entry = expectFound(catalogue.provider(id), "provider");
    if (tried.base_url !== undefined) assertBaseUrl(tried.base_url);
    const row = keys.findRow(id);
    const inForce = keys.baseUrl(entry);
    const baseUrl = tried.base_url === undefined ? inForce : normalizeBaseUrl(entry, tried.base_url);
    if (baseUrl === undefined && entry.kind !== "scripted") throw notFound("provider");
    const stored = baseUrl === inForce ? keys.resolve(id, userId) : undefined;
    const apiKey = tried.api_key ?? stored?.apiKey;
    const answer = {
      base_url: baseUrl ?? null,
      key_source: tried.api_key ? "none" : (stored?.source ?? "none"),
    } as const;
    const keyless = entry.local || id.startsWith("custom-");
    if (!keyless && apiKey === undefined) {
      const error = row?.enabled === false ? "It is switched off." : "It has no key for this address yet.";
      return { ...answer, ok: false, duration_ms: 0, models: [], error, key_refused: false };
    }
    const endpoint = { providerId: id, kind: row?.kind ?? entry.kind, baseUrl: baseUrl ?? "", apiKey };
    const { ok, models, latency_ms, error, keyRefused = false } = await listModels(endpoint);
    if (tried.api_key === undefined && stored?.apiKey !== undefined && (ok || keyRefused))
      onTest(id, keyRefused, stored.source === "user" ? userId : undefined);
    if (ok && baseUrl === inForce) saw(id, models.slice(0, SEEN_MODELS));
    const shown = models.map((model) => present(id, model));
    return { ...answer, ok, duration_ms: latency_ms, models: shown, error: error ?? null, key_refused: keyRefused };
  };
}

const SEEN_MODELS = 500;
