/** Lists of users, oldest first: plain, or for administrators with each user's log-ins, keys and providers. */
import { toTimestamp } from "../../core/clock.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { type Condition, contains } from "../../store/reader.ts";
import { apiKeys, authSessions, identities, users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import type { StorageService } from "../storage/service.ts";
import { type ManagedUser, presentUser, type User, type UserRow } from "./model.ts";

interface UserFilter {
  role?: "admin" | "user" | undefined;
  active?: boolean | undefined;
  /** Part of an address or a name, ignoring the case of A–Z. */
  search?: string | undefined;
}

export interface UserListsDeps extends Pick<Core, "store" | "clock"> {
  storedBy: StorageService["usedBy"];
}

export function createUserLists({ store, clock, storedBy }: UserListsDeps) {
  const [people, logins] = [store.rows(users), store.rows(authSessions)];
  const [keys, links] = [store.rows(apiKeys), store.rows(identities)];
  function rowsOf(page: Page, { role, active, search }: UserFilter = {}): UserRow[] {
    const found: Condition = search ? contains("email || ' ' || display_name", search) : undefined;
    const after: Condition = page.after === null ? undefined : ["id > ?", page.after];
    return people.list([{ role, active }, found, after], { order: "id", limit: page.limit + 1 });
  }
  function toManaged(row: UserRow): ManagedUser {
    const now = clock.now();
    const own = { user_id: row.id };
    const { stored, workspaces } = storedBy(row.id);
    return {
      ...presentUser(row),
      stored_bytes: stored.bytes,
      workspaces_bytes: workspaces.bytes,
      sessions: logins.count(own, ["expires_at > ?", now]),
      api_keys: keys.count(own, ["(expires_at IS NULL OR expires_at > ?)", toTimestamp(now)]),
      providers: [...new Set(links.list([own]).map(({ issuer }) => issuer))].sort(),
      updated_at: row.updated_at,
    };
  }
  return {
    list: (page: Page, filter?: UserFilter): ListAnswer<User> => listById(rowsOf(page, filter), page, presentUser),
    /** As `list`, with each user's log-ins, keys and providers. */
    manage: (page: Page, filter?: UserFilter): ListAnswer<ManagedUser> =>
      listById(rowsOf(page, filter), page, toManaged),
  };
}
