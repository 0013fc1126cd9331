/** People's own provider keys: used before the instance's for what they start, seen by nobody, administrators included. */
import { and, asc, eq } from "drizzle-orm";
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import { type Clock, timestamp } from "../../core/clock.ts";
import { forbidden, invalidField, notFound } from "../../core/errors.ts";
import { maskedPreview } from "../../core/masking.ts";
import type { Sealer } from "../../core/sealing.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { userProviderKeys as table } from "../../store/tables/providers.ts";
import { LOCAL_USER, type ProviderKeys } from "./keys.ts";
import type { UserKey } from "./model.ts";

export interface UserKeysDeps {
  store: Store;
  clock: Clock;
  sealer: Sealer;
  audit: Audit;
  catalogue: Pick<Catalogue, "provider">;
  keys: ProviderKeys;
  keyChanged(providerId: string, userId?: string): void;
}

export interface UserKeys {
  list(page: Page, caller: Caller): ListAnswer<UserKey>;
  /** @throws Problem 404 unknown provider, 422 one that takes no key. */
  set(providerId: string, apiKey: string, caller: Caller): UserKey;
  /** @throws Problem 404 when there is none. */
  remove(providerId: string, caller: Caller): void;
}

/** The owner of the caller's keys. @throws Problem 403 for credentials that belong to no person. */
export function keyOwner(caller: Caller): string {
  if (caller.userId !== undefined) return caller.userId;
  if (caller.kind === "local") return LOCAL_USER;
  throw forbidden("This credential belongs to no user; only users have personal keys.", "account_needed");
}

export function createUserKeys({ store, clock, sealer, audit, catalogue, keys, keyChanged }: UserKeysDeps): UserKeys {
  const { db } = store;
  const present = (row: typeof table.$inferSelect): UserKey => {
    const entry = catalogue.provider(row.provider_id);
    return {
      provider: row.provider_id,
      name: keys.row(row.provider_id)?.name ?? entry?.name ?? row.provider_id,
      masked_key: row.masked_key,
      usable:
        entry !== undefined && keys.baseUrl(entry) === row.key_base_url && keys.row(row.provider_id)?.enabled !== false,
      created_at: row.created_at,
      updated_at: row.updated_at,
    };
  };
  const one = (owner: string, providerId: string) => and(eq(table.user_id, owner), eq(table.provider_id, providerId));
  const record = (action: string, caller: Caller, subject: string) =>
    audit({ action, actor: actorOf(caller), subject, address: caller.address });

  return {
    list(page, caller) {
      const owner = keyOwner(caller);
      const rows = db.select().from(table).where(eq(table.user_id, owner)).orderBy(asc(table.provider_id)).all();
      return pageOfArray(rows.map(present), page, (key) => key.provider);
    },
    set(providerId, apiKey, caller) {
      const owner = keyOwner(caller);
      const entry = catalogue.provider(providerId);
      const address = entry && keys.baseUrl(entry);
      if (!entry || (address === undefined && entry.kind !== "scripted")) throw notFound("provider");
      if (address === undefined) throw invalidField("/api_key", "This provider takes no key");
      const at = timestamp(clock.now());
      const key = { sealed_key: sealer.seal(apiKey), masked_key: maskedPreview(apiKey), key_base_url: address };
      return store.write(() => {
        db.insert(table)
          .values({ user_id: owner, provider_id: providerId, ...key, created_at: at, updated_at: at })
          .onConflictDoUpdate({ target: [table.user_id, table.provider_id], set: { ...key, updated_at: at } })
          .run();
        record("user_provider_key.set", caller, providerId);
        keyChanged(providerId, owner);
        return present(db.select().from(table).where(one(owner, providerId)).get()!);
      });
    },
    remove(providerId, caller) {
      const owner = keyOwner(caller);
      store.write(() => {
        if (db.delete(table).where(one(owner, providerId)).run().changes === 0) throw notFound("personal key");
        record("user_provider_key.removed", caller, providerId);
        keyChanged(providerId, owner);
      });
    },
  };
}
