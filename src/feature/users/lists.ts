/** Lists of users, oldest first: plain, and for administrators with the log-ins, keys and providers of each. */
import { and, asc, count, eq, gt, isNull, or, sql } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { apiKeys, authSessions, identities, users } from "../../store/tables/accounts.ts";
import type { StorageService } from "../storage/service.ts";
import { type ManagedUser, presentUser, type User, type UserRow } from "./model.ts";

export interface UserFilter {
  role?: "admin" | "user" | undefined;
  active?: boolean | undefined;
  /** Part of an address or a name, in any case. */
  search?: string | undefined;
}

export interface UserLists {
  list(page: Page, filter?: UserFilter): ListAnswer<User>;
  /** The same with log-ins, keys and providers of each. */
  manage(page: Page, filter?: UserFilter): ListAnswer<ManagedUser>;
}

export interface UserListsDeps {
  store: Store;
  clock: Clock;
  storedBy: StorageService["usedBy"];
}

export function createUserLists({ store, clock, storedBy }: UserListsDeps): UserLists {
  const { db } = store;
  function rowsOf(page: Page, { role, active, search }: UserFilter = {}): UserRow[] {
    const part = search?.toLowerCase();
    const where = and(
      page.after === null ? undefined : gt(users.id, page.after),
      role === undefined ? undefined : eq(users.role, role),
      active === undefined ? undefined : eq(users.active, active),
      part ? sql`instr(lower(${users.email} || ' ' || ${users.display_name}), ${part}) > 0` : undefined,
    );
    return db
      .select()
      .from(users)
      .where(where)
      .orderBy(asc(users.id))
      .limit(page.limit + 1)
      .all();
  }
  function managed(row: UserRow): ManagedUser {
    const now = clock.now();
    const held = and(eq(authSessions.user_id, row.id), gt(authSessions.expires_at, now));
    const good = or(isNull(apiKeys.expires_at), gt(apiKeys.expires_at, timestamp(now)));
    const keys = and(eq(apiKeys.user_id, row.id), good);
    const links = db.selectDistinct({ issuer: identities.issuer }).from(identities);
    const { stored, workspaces } = storedBy(row.id);
    return {
      ...presentUser(row),
      stored_bytes: stored.bytes,
      workspaces_bytes: workspaces.bytes,
      sessions: db.select({ n: count() }).from(authSessions).where(held).get()?.n ?? 0,
      api_keys: db.select({ n: count() }).from(apiKeys).where(keys).get()?.n ?? 0,
      providers: links
        .where(eq(identities.user_id, row.id))
        .all()
        .map(({ issuer }) => issuer)
        .sort(),
      updated_at: row.updated_at,
    };
  }
  return {
    list: (page, filter) => listAnswer(rowsOf(page, filter), page, (row) => row.id, presentUser),
    manage: (page, filter) => listAnswer(rowsOf(page, filter), page, (row) => row.id, managed),
  };
}
