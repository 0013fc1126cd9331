/**
 * People's own provider keys. They take precedence over the instance's keys for work that the person starts. Nobody
 * else sees them, not even administrators.
 */
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import { toTimestamp } from "../../core/clock.ts";
import { invalidField, notFound } from "../../core/errors.ts";
import { maskedPreview } from "../../core/masking.ts";
import { actedBy, type Caller, personOf } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import { userProviderKeys as table } from "../../store/tables/providers.ts";
import type { Core } from "../feature.ts";
import type { ProviderKeys } from "./keys.ts";
import type { UserKey } from "./model.ts";

interface UserKeysDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  catalogue: Pick<Catalogue, "provider">;
  keys: ProviderKeys;
  keyChanged(providerId: string, userId?: string): void;
}

export type UserKeys = ReturnType<typeof createUserKeys>;

export function createUserKeys({ store, clock, sealer, audit, catalogue, keys, keyChanged }: UserKeysDeps) {
  const rows = store.rows(table);
  const present = (row: typeof table.$inferSelect): UserKey => {
    const entry = catalogue.provider(row.provider_id);
    return {
      provider: row.provider_id,
      name: keys.findRow(row.provider_id)?.name ?? entry?.name ?? row.provider_id,
      masked_key: row.masked_key,
      usable:
        entry !== undefined &&
        keys.baseUrl(entry) === row.key_base_url &&
        keys.findRow(row.provider_id)?.enabled !== false,
      created_at: row.created_at,
      updated_at: row.updated_at,
    };
  };
  const record = (action: string, caller: Caller, subject: string) => audit({ action, ...actedBy(caller), subject });

  return {
    list(page: Page, caller: Caller): ListAnswer<UserKey> {
      const own = rows.list([{ user_id: personOf(caller) }], { order: "provider_id" });
      return pageOfArray(own.map(present), page, (key) => key.provider);
    },
    /** @throws Problem 404 for an unknown provider, 422 for a provider that takes no key. */
    set(provider_id: string, apiKey: string, caller: Caller): UserKey {
      const user_id = personOf(caller);
      const entry = catalogue.provider(provider_id);
      const address = entry && keys.baseUrl(entry);
      if (!entry || (address === undefined && entry.kind !== "scripted")) throw notFound("provider");
      if (address === undefined) throw invalidField("/api_key", "This provider takes no key");
      const at = toTimestamp(clock.now());
      const key = { sealed_key: sealer.seal(apiKey), masked_key: maskedPreview(apiKey), key_base_url: address };
      return store.write(() => {
        const { created_at = at } = rows.find({ user_id, provider_id }) ?? {};
        const row = { user_id, provider_id, ...key, created_at, updated_at: at };
        rows.put(row, ["user_id", "provider_id"]);
        record("user_provider_key.set", caller, provider_id);
        keyChanged(provider_id, user_id);
        return present(row);
      });
    },
    /** @throws Problem 404 when the caller has no key for the provider. */
    remove(provider_id: string, caller: Caller): void {
      const user_id = personOf(caller);
      store.write(() => {
        if (rows.remove({ user_id, provider_id }) === 0) throw notFound("personal key");
        record("user_provider_key.removed", caller, provider_id);
        keyChanged(provider_id, user_id);
      });
    },
  };
}
