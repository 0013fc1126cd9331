/** Configured providers, and the models that can be called. Keys are masked in answers. */

import type { Catalogue, ModelOverride } from "../../adapter/model/catalogue.ts";
import type { ProviderEntry } from "../../adapter/model/providers.ts";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import { ownJson } from "../../core/own-json.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { type SeenModel, userProviderKeys } from "../../store/tables/providers.ts";
import { type ChangesDeps, createProviderChanges } from "./changes.ts";
import type { ProviderRow } from "./keys.ts";
import type { Provider, ProviderKey, ProviderModel } from "./model.ts";

interface ProvidersDeps extends Omit<ChangesDeps, "entryOf" | "get" | "forget"> {
  catalogue: Pick<Catalogue, "provider" | "providers" | "listModels">;
  splitModel(model: string): { provider: string; name: string } | undefined;
  /** Whether the provider refused the instance's key at its last use. */
  isRefused(providerId: string): boolean;
}

export type Providers = ReturnType<typeof createProviders>;

/**
 * Administrators' entries for the catalogue. For a provider that is missing from the price table, the figures that its
 * server gives are used as well.
 * @param isTabled whether the provider's models are in the price table.
 */
export function providerOverrides(
  store: Store,
  isTabled: (providerId: string) => boolean,
): (providerId: string) => readonly ModelOverride[] {
  const query = store.sqlite.prepare<unknown[], { models: string; seen_models: string }>(
    "SELECT models, seen_models FROM providers WHERE id = ?",
  );
  const last = new Map<string, { models: string; seen_models: string; overrides: readonly ModelOverride[] }>();
  /** Called several times per model call, so the row is parsed again only when it has changed. */
  return (providerId) => {
    const row = query.get(providerId);
    if (!row) return [];
    const before = last.get(providerId);
    if (before?.models === row.models && before.seen_models === row.seen_models) return before.overrides;
    const overrides = read(providerId, row);
    if (last.size >= REMEMBERED) last.clear();
    last.set(providerId, { ...row, overrides });
    return overrides;
  };
  function read(providerId: string, row: { models: string; seen_models: string }): readonly ModelOverride[] {
    const own = ownJson<ModelOverride[]>(row.models);
    if (isTabled(providerId)) return own;
    const seen = new Map(ownJson<SeenModel[]>(row.seen_models).map((model) => [model.id, overrideOf(model)]));
    const named = own.map((model): ModelOverride => {
      const id = model.id.replace(`${providerId}/`, "");
      const found = seen.get(id);
      seen.delete(id);
      return { ...found, ...model };
    });
    return [...named, ...seen.values()];
  }
}

/** Most providers whose parsed entries are cached. */
const REMEMBERED = 50;

/** A model's data from its server, in the form of an entry without settings. */
const overrideOf = ({ context_window, tools, reasoning, images, ...model }: SeenModel): ModelOverride => ({
  ...model,
  served_window: context_window,
  tools: tools ?? undefined,
  reasoning: reasoning ?? undefined,
  images: images ?? undefined,
});

/** Age up to which a provider's last use is shown. */
const USED_MS = 90 * DAY_MS;

export function createProviders(deps: ProvidersDeps) {
  const { store, clock, audit, catalogue, keys } = deps;
  const userKeys = store.rows(userProviderKeys);
  const entryOf = (id: string): ProviderEntry => {
    const entry = catalogue.provider(id);
    if (!entry || (id.startsWith("custom-") && !keys.findRow(id))) throw notFound("provider");
    return entry;
  };
  const listEntries = (): ProviderEntry[] => {
    const ids = store.statement<{ id: string }>("SELECT id FROM providers WHERE id LIKE 'custom-%' ORDER BY id").all();
    const custom = ids.map(({ id }) => catalogue.provider(id));
    return [...catalogue.providers(), ...custom.filter((entry) => entry !== undefined)];
  };
  const known = new Map<string, { until: number; listModels: ProviderModel[] }>();
  /**
   * Models of a provider. A list takes hundreds of look-ups in the price table, so it is cached until the provider
   * changes or a while has passed.
   */
  const modelsOf = (id: string): ProviderModel[] => {
    const found = known.get(id);
    if (found && found.until > clock.now()) return found.listModels;
    const listModels = catalogue.listModels(id);
    known.set(id, { until: clock.now() + MODELS_KEPT_MS, listModels });
    return listModels;
  };
  const isConfigured = (entry: ProviderEntry, row: ProviderRow | undefined): boolean => {
    if (row?.enabled === false) return false;
    if (entry.kind === "scripted") return true;
    if (keys.baseUrl(entry) === undefined) return false;
    if (entry.local || entry.id.startsWith("custom-")) return row !== undefined || keys.inEnvironment(entry);
    return keys.findShared(entry) !== undefined;
  };
  const present = (entry: ProviderEntry): Omit<Provider, "last_used_on"> => {
    const row = keys.findRow(entry.id);
    const key = keys.findShared(entry);
    const chosen = deps.defaultModel.get();
    return {
      id: entry.id,
      name: row?.name ?? entry.name,
      kind: row?.kind ?? entry.kind,
      base_url: keys.baseUrl(entry) ?? null,
      enabled: row?.enabled ?? true,
      configured: isConfigured(entry, row),
      key_source: key?.source ?? "none",
      masked_key: key?.masked ?? null,
      key_refused: key !== undefined && deps.isRefused(entry.id),
      default: chosen?.startsWith(`${entry.id}/`) ? chosen : null,
      models: modelsOf(entry.id),
      docs_url: entry.docsUrl,
      env_var: entry.envVar,
    };
  };
  /** Day of the last call, by provider. It is read from the daily totals, which are few, and not from the calls. */
  const daysUsed = (): Map<string, string> => {
    const since = toTimestamp(clock.now() - USED_MS).slice(0, 10);
    const rows = store
      .statement<{ provider: string; day: string }>(
        "SELECT provider, max(day) AS day FROM usage_days WHERE day >= ? GROUP BY provider",
      )
      .all([since]);
    return new Map(rows.map(({ provider, day }) => [provider, day]));
  };
  const presentWithUse = (entry: ProviderEntry, days = daysUsed()): Provider => ({
    ...present(entry),
    last_used_on: days.get(entry.id) ?? null,
  });
  const get = (id: string): Provider => presentWithUse(entryOf(id));

  return {
    ...createProviderChanges({ ...deps, entryOf, get, forget: (id) => void known.delete(id) }),
    list(page: Page): ListAnswer<Provider> {
      const days = daysUsed();
      const all = listEntries().map((entry) => presentWithUse(entry, days));
      return pageOfArray(all, page, (provider) => provider.id);
    },
    /** @throws Problem 404. */
    get,
    /** Keys in use. Only the engine's token gets them in plain text, and that is audited. */
    allKeys(caller: Caller): ProviderKey[] {
      const plain = caller.kind === "engine";
      const found = listEntries().flatMap((entry) => {
        const key = keys.findShared(entry);
        if (!key) return [];
        const base_url = keys.baseUrl(entry) ?? null;
        const masked = { provider: entry.id, source: key.source, masked_key: key.masked, base_url };
        return [plain ? { ...masked, api_key: key.open() } : masked];
      });
      if (plain)
        audit({
          action: "provider.keys_read",
          ...actedBy(caller),
          data: { providers: found.map((key) => key.provider) },
        });
      return found;
    },
    /** Models of every provider that the caller can use. */
    usableModels: (userId: string | undefined): (ProviderModel & { provider: string })[] =>
      listEntries().flatMap((entry) => {
        const row = keys.findRow(entry.id);
        const usable = isConfigured(entry, row) || keys.resolve(entry.id, userId)?.source === "user";
        return usable ? modelsOf(entry.id).map((model) => ({ ...model, provider: entry.id })) : [];
      }),
    /** Whether anybody has configured a provider with models of its own, or given a key for one. */
    anyConfigured: (): boolean =>
      listEntries().some((entry) => entry.kind !== "scripted" && isConfigured(entry, keys.findRow(entry.id))) ||
      userKeys.find() !== undefined,
    /** Whether the provider can be called, or why it cannot. */
    stateOf(id: string): "ready" | "off" | "not configured" | "key refused" | "unknown" {
      const entry = catalogue.provider(id);
      if (!entry) return "unknown";
      const { enabled, configured, key_refused } = present(entry);
      return !enabled ? "off" : !configured ? "not configured" : key_refused ? "key refused" : "ready";
    },
    /**
     * What is wrong with a model's name, as text for a person; undefined for a model that can be called, or perhaps
     * can.
     */
    wrongModel(model: string): string | undefined {
      const { provider: id = "", name = "" } = deps.splitModel(model) ?? {};
      const entry = catalogue.provider(id);
      if (!entry) return "There is no such provider. Write provider/model, e.g. ollama/qwen3";
      const seen = keys.findRow(id)?.seen_models.length ?? 0;
      if (id.startsWith("custom-") && !keys.findRow(id))
        return `There is no provider ${id}. Add it: skep providers set ${id} --base-url URL`;
      // Nothing is known about other names: a hosted provider's models change every week, and another server may never
      // have listed its own.
      if (entry.priceId !== undefined || seen === 0) return undefined;
      const names = modelsOf(id).map((one) => one.id);
      if (names.some((one) => one === model || one === `${model}:latest`)) return undefined;
      const hint = didYouMean(model, names);
      return `${entry.name} has no model ${name}. ${hint ? `${hint} ` : ""}For models that are new there: skep providers test ${id}`;
    },
  };
}

/** Models are cached only this long, because prices may change with the day. */
const MODELS_KEPT_MS = 600_000;
