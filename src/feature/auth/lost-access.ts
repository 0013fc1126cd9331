/**
 * Changes to accounts by the owner of the machine, without a log-in. A user who can write the data folder could change
 * everything in it anyway. It works beside a running server, which reads accounts at each request.
 */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { DAY_MS, systemClock, toTimestamp } from "../../core/clock.ts";
import type { Config } from "../../core/config.ts";
import { normalEmail } from "../../core/email.ts";
import { conflict, expectFound, isProblem, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Scope } from "../../http/scopes.ts";
import { createAudit } from "../../store/audit.ts";
import { openDataFolder } from "../../store/data-folder.ts";
import { lockDataFolder } from "../../store/lock.ts";
import { compareMigrations } from "../../store/migrate.ts";
import { databasePath, openStore } from "../../store/store.ts";
import { authSessions, loginFailures, recoveryCodes, users } from "../../store/tables/accounts.ts";
import { newUserRow, presentUser, type User, type UserRow } from "../users/model.ts";
import { createApiKeys } from "./api-keys.ts";
import { attemptKey } from "./attempts.ts";
import type { ApiKey } from "./model.ts";
import { assertGoodPassword, createPasswords } from "./passwords.ts";

/** @throws Problem 409 `data_in_use` when a server of another version works on the folder. */
export function openLostAccess(config: Pick<Config, "data">) {
  const folder = openDataFolder(config.data);
  const unlock = lockOrShare(folder.root);
  const clock = systemClock;
  const store = openStore({ path: databasePath(folder.root), clock, copies: folder.backups });
  const [people, codes] = [store.rows(users), store.rows(recoveryCodes)];
  const [sessions, failures] = [store.rows(authSessions), store.rows(loginFailures)];
  const audit = createAudit(store, clock);
  const passwords = createPasswords(1);
  const apiKeys = createApiKeys({ store, clock, audit });
  const record = (action: string, subject: string) => audit({ action, actor: "command-line", subject });
  const byEmail = (email: string): UserRow | undefined => people.find({ email: normalEmail(email) });
  const loadUser = (email: string): UserRow => expectFound(byEmail(email), "account with that address");
  const change = (row: UserRow, changes: Partial<UserRow>): User => {
    const next = { ...row, ...changes, updated_at: toTimestamp(clock.now()) };
    people.update(next, { id: row.id });
    return presentUser(next);
  };
  function restoreAccess(row: UserRow, changes: Partial<UserRow>): User {
    sessions.remove({ user_id: row.id });
    for (const key of [attemptKey("password", row.email), attemptKey("second-factor", row.id)])
      failures.remove({ key });
    return change(row, { active: true, ...changes });
  }

  return {
    /** Creates an administrator, or promotes the account that has this address. */
    async createAdmin(given: string, password: string, displayName?: string): Promise<User> {
      const email = normalEmail(given);
      assertGoodPassword(password, email);
      const password_hash = await passwords.hash(password);
      const at = toTimestamp(clock.now());
      return store.write(() => {
        const existing = byEmail(email);
        if (existing?.role === "admin" && existing.active)
          throw conflict("This account is an administrator already. Use: skep admin reset-password");
        const id = existing?.id ?? newId("user");
        record("user.made_admin", id);
        if (existing) {
          apiKeys.passwordChanged(id, { all: false });
          return restoreAccess(existing, { role: "admin", password_hash });
        }
        const row = newUserRow({ id, email, display_name: displayName, role: "admin", password_hash, at });
        people.insert(row);
        return presentUser(row);
      });
    },
    /**
     * Sets a password, ends all sessions, all locks and the keys of log-ins (`allKeys`: all keys), and activates the
     * account.
     * @returns the user with the keys that are still valid. @throws Problem 404, 422.
     */
    async resetPassword(
      email: string,
      password: string,
      { allKeys }: { allKeys: boolean },
    ): Promise<User & { api_keys: ApiKey[] }> {
      assertGoodPassword(password, normalEmail(email));
      loadUser(email);
      const password_hash = await passwords.hash(password);
      return store.write(() => {
        const row = loadUser(email);
        record("user.password_reset", row.id);
        const api_keys = apiKeys.passwordChanged(row.id, { all: allKeys });
        return { ...restoreAccess(row, { password_hash }), api_keys };
      });
    },
    /** @throws Problem 404. */
    disableTwoFactor: (email: string): User =>
      store.write(() => {
        const row = loadUser(email);
        codes.remove({ user_id: row.id });
        record("second_factor.disabled", row.id);
        return change(row, { totp_enabled: false, totp_sealed: null });
      }),
    /** Makes an API key. @param email of an active user; undefined takes the first administrator. */
    token({ email, days, scopes }: { email?: string | undefined; days: number; scopes?: Scope[] | undefined }): {
      key: string;
      user: User;
      expires_at: string;
    } {
      const listFirstAdmin = () => people.list([{ role: "admin" }], { order: "created_at", limit: 1 });
      const row = email === undefined ? listFirstAdmin()[0] : loadUser(email);
      if (!row) throw notFound("administrator; make one with: skep admin create");
      const expires_at = toTimestamp(clock.now() + days * DAY_MS);
      const input = { name: "skep admin token", expires_at, ...(scopes ? { scopes } : {}) };
      const { key } = apiKeys.create(row.id, input, "command-line");
      return { key: key ?? "", user: presentUser(row), expires_at };
    },
    close(): void {
      store.close();
      unlock();
    },
  };
}

/**
 * Locks the data folder, or shares it with a running server of the same version. With a server of another version the
 * database could be migrated while that server uses it.
 */
function lockOrShare(root: string): () => void {
  try {
    return lockDataFolder(root, 0);
  } catch (error) {
    if (!isProblem(error) || error.code !== "data_in_use" || !existsSync(databasePath(root))) throw error;
    const db = new Database(databasePath(root), { readonly: true });
    try {
      const { missing, refusal } = compareMigrations(db);
      if (refusal || missing.length > 0) throw error;
    } finally {
      db.close();
    }
    return () => {};
  }
}
