/**
 * Changes that administrators make to providers. Keys are sealed at rest. A new address drops all keys that were given
 * for the former one, including people's own.
 */
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import type { ProviderEntry } from "../../adapter/model/providers.ts";
import { toTimestamp } from "../../core/clock.ts";
import { expectFound, invalidField, notFound } from "../../core/errors.ts";
import { maskedPreview } from "../../core/masking.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type SeenModel, providers as table, userProviderKeys } from "../../store/tables/providers.ts";
import type { Core } from "../feature.ts";
import { assertBaseUrl } from "./base-url.ts";
import type { ProviderKeys, ProviderRow } from "./keys.ts";
import type { Provider, ProviderUpdate } from "./model.ts";

export interface ChangesDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  catalogue: Pick<Catalogue, "provider">;
  keys: ProviderKeys;
  defaultModel: { get(): string | null; set(model: string | null, caller: Caller): void };
  /** Called when a key was set or removed: notifications about the old key no longer apply. */
  keyChanged(providerId: string, userId?: string): void;
  /** @throws Problem 404. */
  entryOf(id: string): ProviderEntry;
  get(id: string): Provider;
  /** Forgets the cached models of the provider. */
  forget(id: string): void;
}

export function createProviderChanges(deps: ChangesDeps) {
  const { store, clock, audit, catalogue, keys, entryOf, get, forget } = deps;
  const [rows, userKeys] = [store.rows(table), store.rows(userProviderKeys)];
  /**
   * Forgets the cached models before and after the change, so that nothing read within a failed transaction stays
   * cached.
   */
  const writeChange = <T>(id: string, change: () => T): T => {
    forget(id);
    try {
      return store.write(change);
    } finally {
      forget(id);
    }
  };
  function update(id: string, input: ProviderUpdate, caller: Caller): Provider {
    const entry = expectFound(catalogue.provider(id), "provider");
    assertUpdate(entry, input, keys.findRow(id) !== undefined);
    return writeChange(id, () => {
      const before = keys.baseUrl(entry);
      const row = merge(entry, keys.findRow(id), input, toTimestamp(clock.now()));
      rows.put(row, ["id"]);
      const moved = before !== keys.baseUrl(entry);
      if (moved) dropKeys(id);
      if (input.api_key !== undefined) setKey(entry, input.api_key);
      if (input.default !== undefined) setDefault(id, input.default, caller);
      const { api_key, ...shown } = input;
      const data = { fields: Object.keys(shown), key: keyWord(api_key, moved) };
      audit({ action: "provider.updated", ...actedBy(caller), subject: id, data });
      if (moved || api_key !== undefined) deps.keyChanged(id);
      return get(id);
    });
  }
  function dropKeys(id: string): void {
    rows.update({ sealed_key: null, masked_key: null, key_base_url: null, seen_models: [] }, { id });
    userKeys.remove({ provider_id: id });
  }
  function setKey(entry: ProviderEntry, key: string | null): void {
    const sealed = key === null ? null : deps.sealer.seal(key);
    const masked_key = key === null ? null : maskedPreview(key);
    const key_base_url = key === null ? null : (keys.baseUrl(entry) ?? null);
    rows.update({ sealed_key: sealed, masked_key, key_base_url }, { id: entry.id });
  }
  function setDefault(id: string, model: string | null, caller: Caller): void {
    if (model !== null) deps.defaultModel.set(model.startsWith(`${id}/`) ? model : `${id}/${model}`, caller);
    else if (deps.defaultModel.get()?.startsWith(`${id}/`)) deps.defaultModel.set(null, caller);
  }

  return {
    /**
     * Changes the given fields, and creates a `custom-*` server.
     * @throws Problem 404 for an unknown provider, 422 for a bad address or key.
     */
    update,
    /**
     * Removes a provider's configuration; a custom server is removed as a whole.
     * @throws Problem 404 for an unknown provider or when nothing is configured.
     */
    remove(id: string, caller: Caller): void {
      const entry = entryOf(id);
      writeChange(id, () => {
        const before = keys.baseUrl(entry);
        if (rows.remove({ id }) === 0) throw notFound("provider configuration");
        if (id.startsWith("custom-") || before !== keys.baseUrl(entry)) userKeys.remove({ provider_id: id });
        audit({ action: "provider.removed", ...actedBy(caller), subject: id });
        deps.keyChanged(id);
      });
    },
    /** Stores the models that a server listed. */
    saw(id: string, models: SeenModel[]): void {
      writeChange(id, () => rows.update({ seen_models: models }, { id }));
    },
  };
}

const keyWord = (key: string | null | undefined, moved: boolean): string =>
  key ? "set" : key === null ? "removed" : moved ? "dropped" : "kept";

function assertUpdate(entry: ProviderEntry, input: ProviderUpdate, exists: boolean): void {
  const isCustom = entry.id.startsWith("custom-");
  if (typeof input.base_url === "string") assertBaseUrl(input.base_url);
  if (isCustom && (input.base_url === null || (!exists && input.base_url === undefined)))
    throw invalidField("/base_url", "A custom server needs its address");
  if (!isCustom && input.kind !== undefined && input.kind !== entry.kind)
    throw invalidField("/kind", "Only custom servers can speak another protocol");
  if (entry.kind === "scripted" && (input.api_key || input.base_url))
    throw invalidField(input.api_key ? "/api_key" : "/base_url", "The scripted model takes neither key nor address");
}

/** The row with the given fields changed. Keys stay untouched. */
function merge(entry: ProviderEntry, row: ProviderRow | undefined, input: ProviderUpdate, at: string): ProviderRow {
  const { name, kind, base_url, enabled, models } = input;
  return {
    id: entry.id,
    name: name === undefined ? (row?.name ?? null) : name,
    kind: entry.id.startsWith("custom-") ? (kind ?? row?.kind ?? null) : null,
    base_url: base_url === undefined ? (row?.base_url ?? null) : (base_url?.trim() ?? null),
    enabled: enabled ?? row?.enabled ?? true,
    sealed_key: row?.sealed_key ?? null,
    masked_key: row?.masked_key ?? null,
    key_base_url: row?.key_base_url ?? null,
    models: models ?? row?.models ?? [],
    seen_models: row?.seen_models ?? [],
    created_at: row?.created_at ?? at,
    updated_at: at,
  };
}
