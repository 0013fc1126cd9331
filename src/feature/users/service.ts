/**
 * Users. The last active administrator cannot be demoted, switched off or deleted. A user who loses rights loses all
 * sessions in the same transaction. What a deleted user owned passes to the deleting administrator, else to the first
 * one, so that nothing private becomes everybody's.
 */
import { toTimestamp } from "../../core/clock.ts";
import { normalEmail } from "../../core/email.ts";
import { conflict, expectFound, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { otherAdministrator } from "../../store/administrators.ts";
import { recoveryCodes, users } from "../../store/tables/accounts.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { Core, HandOver } from "../feature.ts";
import { createUserLists, type UserListsDeps } from "./lists.ts";
import {
  type ChangedUser,
  newUserRow,
  presentUser,
  type User,
  type UserCreate,
  type UserRow,
  type UserUpdate,
} from "./model.ts";

interface UsersDeps extends UserListsDeps, Pick<Core, "audit"> {
  passwords: { hash(password: string): Promise<string> };
  /** @throws Problem 422. */
  assertGoodPassword(password: string, email: string): void;
  /** Whether this is the user's current password. Wrong passwords count towards the lock. @throws Problem 429. */
  checkPassword(user: UserRow, password: string): Promise<boolean>;
  endSessions(userId: string, except?: string): void;
  /**
   * After a new password, ends the API keys that log-ins made, or all keys. `except` is the key that the change was
   * made with.
   * @returns the keys that stay valid.
   */
  endKeys(
    userId: string,
    options: { all: boolean; except?: string | undefined },
  ): { id: string; name: string; preview: string }[];
  /** Ends locks that wrong passwords and codes have caused. */
  unlock(user: UserRow): void;
  /** Passes on what all features hold for the user. */
  handOver: HandOver;
}

export type Users = ReturnType<typeof createUsers>;

export function createUsers(deps: UsersDeps) {
  const { store, clock, audit, passwords } = deps;
  const [rows, codes] = [store.rows(users), store.rows(recoveryCodes)];
  const rowOf = (id: string): UserRow => expectFound(rows.find({ id }), "user");
  const loadVisible = (id: string, caller: Caller): UserRow => {
    if (!mayRead(caller, WHOSE.users, { id })) throw notFound("user");
    return rowOf(id);
  };
  const record = (action: string, caller: Caller, subject: string, data: Record<string, unknown> = {}) =>
    audit({ action, ...actedBy(caller), subject, data });
  const assertNotLast = (row: UserRow) => {
    if (row.role === "admin" && row.active && otherAdministrator(store, row.id) === undefined)
      throw conflict("This is the last administrator. Make another one first.", "last_administrator");
  };
  const assertFree = (email: string, except?: string) => {
    const holder = rows.find({ email });
    if (holder && holder.id !== except) throw conflict("An account has this address.", "email_taken");
  };

  /** Hashes the new password, after the checks that its change needs. */
  async function newHash(
    row: UserRow,
    { password, current_password }: UserUpdate,
    own: boolean,
  ): Promise<string | undefined> {
    if (password === undefined) return undefined;
    deps.assertGoodPassword(password, row.email);
    if (own && row.password_hash !== null) {
      const same = current_password !== undefined && (await deps.checkPassword(row, current_password));
      if (!same) throw invalidField("/current_password", "The current password is missing or wrong");
    }
    return passwords.hash(password);
  }
  /** The changes in the input that this caller may make. */
  function changesOf(row: UserRow, input: UserUpdate, caller: Caller, hash: string | undefined): Partial<UserRow> {
    const changes: Partial<UserRow> = {};
    if (input.display_name !== undefined) changes.display_name = input.display_name;
    if (hash !== undefined) changes.password_hash = hash;
    if (!caller.admin) return changes;
    if (input.email !== undefined) changes.email = normalEmail(input.email);
    if (input.role !== undefined) changes.role = input.role;
    if (input.active !== undefined) changes.active = input.active;
    // Users switch off their own second factor with a code, at `/v1/auth/2fa/disable`.
    if (input.two_factor_enabled === false && caller.userId !== row.id)
      Object.assign(changes, { totp_enabled: false, totp_sealed: null });
    return changes;
  }
  function applyChanges(before: UserRow, changes: Partial<UserRow>, all: boolean, caller: Caller): ChangedUser {
    const { id } = before;
    return store.write(() => {
      const row = rowOf(id);
      // The password that authorized this change has been replaced meanwhile.
      if (changes.password_hash !== undefined && caller.userId === id && row.password_hash !== before.password_hash)
        throw conflict("The password was changed meanwhile. This request changed nothing.", "password_changed");
      const next = { ...row, ...changes, updated_at: toTimestamp(clock.now()) };
      const loses = (row.role === "admin" && next.role !== "admin") || (row.active && !next.active);
      if (loses) assertNotLast(row);
      if (next.email !== row.email) assertFree(next.email, id);
      rows.update(next, { id });
      if (row.totp_enabled && !next.totp_enabled) codes.remove({ user_id: id });
      const newPassword = changes.password_hash !== undefined;
      if (loses) deps.endSessions(id);
      else if (newPassword) deps.endSessions(id, caller.userId === id ? caller.sessionId : undefined);
      const own = caller.userId === id ? caller.apiKeyId : undefined;
      const left = newPassword ? deps.endKeys(id, { all, except: own }) : undefined;
      if (newPassword) deps.unlock(row);
      record("user.updated", caller, id, { fields: Object.keys(changes), ...(loses ? { rights_lost: true } : {}) });
      if (!left) return presentUser(next);
      return { ...presentUser(next), api_keys_left: left.map(({ id, name, preview }) => ({ id, name, preview })) };
    });
  }

  return {
    ...createUserLists(deps),
    /** @throws Problem 404 for another user's id, unless the caller is an administrator. */
    get: (id: string, caller: Caller): User => presentUser(loadVisible(id, caller)),
    /**
     * Hashes the password first. `commit` then writes the user; call it in the transaction of the answer.
     * @throws Problem 422.
     */
    async prepare(
      { email: given, display_name, password, role = "user" }: UserCreate,
      caller: Caller,
    ): Promise<{ commit(): User }> {
      const email = normalEmail(given);
      if (password !== undefined) deps.assertGoodPassword(password, email);
      const password_hash = password === undefined ? null : await passwords.hash(password);
      return {
        commit() {
          assertFree(email);
          const row = newUserRow({
            id: newId("user"),
            email,
            display_name,
            role,
            password_hash,
            at: toTimestamp(clock.now()),
          });
          rows.insert(row);
          record("user.created", caller, row.id, { role });
          return presentUser(row);
        },
      };
    },
    async update(id: string, input: UserUpdate, caller: Caller): Promise<ChangedUser> {
      const row = loadVisible(id, caller);
      const hash = await newHash(row, input, caller.userId === id);
      return applyChanges(row, changesOf(row, input, caller, hash), input.end_api_keys ?? false, caller);
    },
    remove(id: string, caller: Caller): void {
      store.write(() => {
        const row = loadVisible(id, caller);
        assertNotLast(row);
        const deleter = caller.admin && caller.userId !== id ? caller.userId : undefined;
        const heir = deleter ?? otherAdministrator(store, id) ?? null;
        deps.handOver(id, heir);
        rows.remove({ id });
        record("user.deleted", caller, id, { handed_to: heir });
      });
    },
    /**
     * Removes a user whose work is gone. What other features still hold for the user passes to another administrator.
     * Idempotent.
     * @param actor as in the audit log.
     */
    erase(id: string, actor: string): void {
      store.write(() => {
        const row = rows.find({ id });
        if (!row) return;
        assertNotLast(row);
        const heir = otherAdministrator(store, id) ?? null;
        deps.handOver(id, heir);
        rows.remove({ id });
        audit({ action: "user.deleted", actor, subject: id, data: { handed_to: heir } });
      });
    },
  };
}
