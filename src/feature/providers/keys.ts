/**
 * Finds the key and address for a call to a provider: the user's own key, else the instance's, else the environment's.
 * A key is bound to the address for which it was given, and is never sent to another one, however the address was
 * changed.
 */
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import type { ResolvedProvider } from "../../adapter/model/model-port.ts";
import type { ProviderEntry } from "../../adapter/model/providers.ts";
import { maskedPreview } from "../../core/masking.ts";
import { LOCAL_USER, providers, userProviderKeys } from "../../store/tables/providers.ts";
import type { Core } from "../feature.ts";

interface KeysDeps extends Pick<Core, "store" | "sealer"> {
  catalogue: Pick<Catalogue, "provider">;
  /** Provider keys and addresses of the environment, by variable name. */
  providerEnv: Readonly<Record<string, string>>;
  /** Whether the server has no log-in: then work without a user uses the keys of the local user. */
  localUser: boolean;
  /** The address to call, in its canonical spelling; undefined when the text is no address. */
  normalizeBaseUrl(entry: ProviderEntry, given?: string): string | undefined;
}

interface SharedKey {
  source: "instance" | "env";
  masked: string;
  /** The plain key. @throws Error when it was sealed with another instance's key. */
  open(): string;
}

export type ProviderRow = typeof providers.$inferSelect;

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

/** Variable of the address, from that of the key: `OLLAMA_API_KEY` → `OLLAMA_BASE_URL`. */
const baseUrlVariable = (keyVariable: string): string => keyVariable.replace(/_API_KEY$/, "_BASE_URL");

export function createProviderKeys(deps: KeysDeps) {
  const { store, sealer, catalogue, providerEnv, localUser, normalizeBaseUrl } = deps;
  const [rows, userRows] = [store.rows(providers), store.rows(userProviderKeys)];
  const findRow = (id: string) => rows.find({ id });
  const userRow = (userId: string, id: string) => userRows.find({ user_id: userId, provider_id: id });
  const fromEnv = (name: string): string | undefined =>
    name !== "" && Object.hasOwn(providerEnv, name) ? providerEnv[name]?.trim() : undefined;
  const envBaseUrl = (entry: ProviderEntry) => fromEnv(baseUrlVariable(entry.envVar));
  const baseUrl = (entry: ProviderEntry) =>
    normalizeBaseUrl(entry, findRow(entry.id)?.base_url ?? envBaseUrl(entry) ?? undefined);

  function findShared(entry: ProviderEntry): SharedKey | undefined {
    const stored = findRow(entry.id);
    const sealed = stored?.sealed_key;
    if (sealed && stored.key_base_url === baseUrl(entry))
      return { source: "instance", masked: stored.masked_key ?? "…", open: () => sealer.open(sealed) };
    const apiKey = fromEnv(entry.envVar);
    // The environment's key belongs to the environment's address, not to one that was set through the API.
    const meant = baseUrl(entry) === normalizeBaseUrl(entry, envBaseUrl(entry));
    return apiKey && meant ? { source: "env", masked: maskedPreview(apiKey), open: () => apiKey } : undefined;
  }

  function resolve(providerId: string, userId?: string): ResolvedProvider | undefined {
    const entry = catalogue.provider(providerId);
    if (!entry) return undefined;
    const stored = findRow(providerId);
    if (stored && !stored.enabled) return undefined;
    const address = baseUrl(entry);
    if (address === undefined && entry.kind !== "scripted") return undefined;
    const target = { baseUrl: address, ...(stored?.kind ? { kind: stored.kind } : {}) };
    const owner = userId ?? (localUser ? LOCAL_USER : undefined);
    const own = owner === undefined ? undefined : userRow(owner, providerId);
    if (own && own.key_base_url === address) return { ...target, apiKey: sealer.open(own.sealed_key), source: "user" };
    const key = findShared(entry);
    if (key) return { ...target, apiKey: key.open(), source: key.source };
    // A self-hosted server may need no key; a hosted provider always does.
    const needsNone = entry.local || providerId.startsWith("custom-");
    return needsNone ? { ...target, source: "none" } : undefined;
  }

  return {
    resolve,
    /**
     * The key that everybody shares, from the settings or the environment, whether or not the provider is switched on.
     */
    findShared,
    /** The address that is used: the administrator's, else the environment's, else the provider's own. */
    baseUrl,
    findRow,
    /** Opens every stored key once, so that all of them are masked. A key that cannot be opened is skipped. */
    openAll(): void {
      for (const { sealed_key } of [...userRows.list([]), ...rows.list([])])
        try {
          if (sealed_key) sealer.open(sealed_key);
        } catch {
          // The error is reported when the key is used.
        }
    },
    /** Whether the environment sets a key or an address for the provider. */
    inEnvironment: (entry: ProviderEntry): boolean =>
      fromEnv(entry.envVar) !== undefined || envBaseUrl(entry) !== undefined,
  };
}
