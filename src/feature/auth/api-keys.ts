/**
 * API keys. A key is shown once and stored as a digest. It is limited to its scopes and its expiry, and deleting it
 * makes it invalid.
 */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { apiKeys, users } from "../../store/tables/accounts.ts";
import type { UserRow } from "../users/model.ts";
import type { ApiKey, ApiKeyCreate } from "./model.ts";
import { newToken, TOKEN_PREFIXES, tokenHash } from "./tokens.ts";

type Row = typeof apiKeys.$inferSelect;

export type ApiKeys = ReturnType<typeof createApiKeys>;

/** The time of a key's last use is written at most this often. */
const TOUCH_MS = 60_000;

export function createApiKeys({ store, clock, audit }: { store: Store; clock: Clock; audit: Audit }) {
  const [keys, people] = [store.rows(apiKeys), store.rows(users)];
  const present = ({ hash: _, user_id: _user, ...row }: Row): ApiKey => ({
    ...row,
    expired: row.expires_at !== null && Date.parse(row.expires_at) <= clock.now(),
  });
  /** The key with its user, if both are valid. */
  function findValid(key: Row | undefined): { key: Row; user: UserRow } | undefined {
    if (!key || present(key).expired) return undefined;
    const user = people.find({ id: key.user_id });
    return user?.active ? { key, user } : undefined;
  }

  return {
    /**
     * The answer includes the key itself, as `key`. @throws Problem 422 for an expiry in the past, 409 for too many
     * keys.
     */
    create(
      userId: string,
      { name, kind = "key", expires_at = null, scopes = null }: ApiKeyCreate,
      actor: string,
      address?: string,
    ): ApiKey {
      const now = clock.now();
      if (expires_at !== null && !(Date.parse(expires_at) > now))
        throw invalidField("/expires_at", "The end must be in the future");
      const key = newToken("apiKey");
      const row: Row = {
        id: newId("apiKey"),
        user_id: userId,
        name,
        kind,
        hash: tokenHash(key),
        preview: `${key.slice(0, 9)}…${key.slice(-4)}`,
        scopes: scopes && [...new Set(scopes)],
        expires_at: expires_at && toTimestamp(Date.parse(expires_at)),
        last_used_at: null,
        created_at: toTimestamp(now),
      };
      return store.write(() => {
        if (keys.count({ user_id: userId }) >= LIMITS.apiKeysPerUser)
          throw conflict(`A user has at most ${LIMITS.apiKeysPerUser} keys. Revoke one first.`, "too_many_keys");
        keys.insert(row);
        audit({ action: "api_key.created", actor, subject: row.id, address, data: { name, scopes, user_id: userId } });
        return { ...present(row), key };
      });
    },
    list(userId: string, page: Page): ListAnswer<ApiKey> {
      return listById(keys.page([{ user_id: userId }], page), page, present);
    },
    /** @throws Problem 404, also for another user's key. */
    get(userId: string, id: string): ApiKey {
      const row = expectFound(keys.find({ id, user_id: userId }), "API key");
      return present(row);
    },
    /** @throws Problem 404 unless the key belongs to that user. */
    remove: (userId: string, id: string, actor: string, address?: string): void =>
      store.write(() => {
        if (keys.remove({ id, user_id: userId }) === 0) throw notFound("API key");
        audit({ action: "api_key.revoked", actor, subject: id, address, data: { user_id: userId } });
      }),
    /**
     * Call after a new password: ends the keys of log-ins, or all keys, but not `except`, the key that made the change.
     * @returns the keys that are still valid.
     */
    passwordChanged: (userId: string, { all, except }: { all: boolean; except?: string | undefined }): ApiKey[] =>
      store.write(() => {
        const others = except === undefined ? undefined : (["id <> ?", except] as const);
        keys.remove({ user_id: userId, kind: all ? undefined : "login" }, others);
        const left = keys.list([{ user_id: userId }], { order: "id DESC" });
        return left.map(present).filter(({ expired }) => !expired);
      }),
    /** The key and its user, if both are valid. */
    find(key: string): { key: Row; user: UserRow } | undefined {
      if (!key.startsWith(TOKEN_PREFIXES.apiKey)) return undefined;
      const found = findValid(keys.find({ hash: tokenHash(key) }));
      if (!found) return undefined;
      const { id, last_used_at } = found.key;
      const now = clock.now();
      if (last_used_at === null || now - Date.parse(last_used_at) > TOUCH_MS)
        store.write(() => keys.update({ last_used_at: toTimestamp(now) }, { id }));
      return found;
    },
    /** The same as `find`, by the key's id. Open streams use it to check that their key is still valid. */
    findLive: (id: string): { key: Row; user: UserRow } | undefined => findValid(keys.find({ id })),
  };
}
