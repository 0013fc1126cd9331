/**
 * Sets of browser cookies: sealed at rest, never shown again, and given only to executions of their owner by agents
 * they were granted to. An agent that two users share works with the cookies of the one it works for.
 */

import { and, asc, desc, eq, inArray, lt } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Asker } from "../../core/ownership.ts";
import type { Sealer } from "../../core/sealing.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { cookieGrants, cookieSets } from "../../store/tables/cookies.ts";
import { asSql, readable, WHOSE } from "../../store/whose.ts";
import { createCookieMasks } from "./masks.ts";
import type { CookieSet } from "./model.ts";
import { type Cookie, writeNetscapeCookies } from "./netscape.ts";

export interface CookiesDeps {
  store: Store;
  clock: Clock;
  sealer: Sealer;
  audit: Audit;
  masking: Pick<Masking, "add">;
  agentExists(agentId: string): boolean;
  /** Agents that have started the session and hand on no more than they have themselves. */
  boundsOf(sessionId: string): string[];
}

export interface Cookies {
  /** The caller's own, newest first. */
  list(page: Page, caller: Caller): ListAnswer<CookieSet>;
  /** @throws Problem 404, also for another user's. */
  get(id: string, caller: Caller): CookieSet;
  /** @throws Problem 409 same name, 422 too many sets. */
  create(name: string, cookies: readonly Cookie[], caller: Caller): CookieSet;
  remove(id: string, caller: Caller): void;
  /** The caller's sets that the agent was granted. */
  grantedTo(agentId: string, page: Page, caller: Caller): ListAnswer<CookieSet>;
  /** Its values are masked from now on. Idempotent. @throws Problem 404 unknown set or agent, 409 too many cookies. */
  grant(id: string, agentId: string, caller: Caller): Promise<CookieSet>;
  revoke(id: string, agentId: string, caller: Caller): void;
  /**
   * The cookie file for one execution, and the names of sets that cannot be opened.
   * @returns no text when its agent was granted none of its user's cookies.
   */
  fileFor(execution: Worker): { text: string | undefined; damaged: string[] };
  /** Names of the sets that `fileFor` would give, oldest first. */
  grantedFor(execution: Worker): string[];
  /** Removes a deleted user's cookies. */
  removeOf(userId: string): void;
}

/** An execution: which agent works for whom. */
interface Worker {
  id: string;
  sessionId: string;
  agentId: string;
  userId?: string | undefined;
}

type Row = typeof cookieSets.$inferSelect;

export function createCookies({ store, clock, sealer, audit, masking, agentExists, boundsOf }: CookiesDeps): Cookies {
  const { db } = store;
  const owned = (asker: Asker) => asSql(readable(asker, WHOSE.cookie_sets));
  const find = (id: string, caller: Caller): Row => {
    const row = db
      .select()
      .from(cookieSets)
      .where(and(eq(cookieSets.id, id), owned(caller)))
      .get();
    if (!row) throw notFound("cookie set");
    return row;
  };
  const present = ({ sealed: _, ...row }: Row): CookieSet => ({
    ...row,
    expired: row.expires_at !== null && Date.parse(row.expires_at) <= clock.now(),
    granted_agents: db
      .select({ agent: cookieGrants.agent_id })
      .from(cookieGrants)
      .where(eq(cookieGrants.cookie_set_id, row.id))
      .orderBy(asc(cookieGrants.agent_id))
      .all()
      .map(({ agent }) => agent),
  });
  const record = (action: string, caller: Caller, { id, name }: Row, data: Record<string, unknown> = {}) =>
    audit({ action, actor: actorOf(caller), subject: id, address: caller.address, data: { name, ...data } });
  const older = (page: Page) => (page.after === null ? undefined : lt(cookieSets.id, page.after));
  const assertAgent = (agentId: string): void => {
    if (!agentExists(agentId)) throw notFound("agent");
  };

  const isGranted = (setId: string, agentId: string): boolean =>
    db
      .select({ id: cookieGrants.cookie_set_id })
      .from(cookieGrants)
      .where(and(eq(cookieGrants.cookie_set_id, setId), eq(cookieGrants.agent_id, agentId)))
      .get() !== undefined;
  const setsFor = ({ agentId, userId, sessionId }: Worker) => {
    const bounds = boundsOf(sessionId);
    const granted = db
      .select({ id: cookieSets.id, name: cookieSets.name, sealed: cookieSets.sealed })
      .from(cookieGrants)
      .innerJoin(cookieSets, eq(cookieSets.id, cookieGrants.cookie_set_id))
      .where(and(eq(cookieGrants.agent_id, agentId), owned({ admin: false, userId })))
      .orderBy(asc(cookieSets.id))
      .all();
    return granted.filter(({ id }) => bounds.every((other) => isGranted(id, other)));
  };
  const cookiesOf = ({ sealed }: Pick<Row, "sealed">) => ownJson<Cookie[]>(sealer.open(sealed));
  const grantedSets = db.selectDistinct({ id: cookieGrants.cookie_set_id }).from(cookieGrants);
  const masks = createCookieMasks(masking);
  for (const row of db.select().from(cookieSets).where(inArray(cookieSets.id, grantedSets)).all()) {
    const cookies = orNothing(() => cookiesOf(row));
    if (cookies) masks.learnNow(row.owner_id ?? undefined, cookies);
  }

  return {
    list(page, caller) {
      const rows = db
        .select()
        .from(cookieSets)
        .where(and(owned(caller), older(page)))
        .orderBy(desc(cookieSets.id))
        .limit(page.limit + 1)
        .all();
      return listAnswer(rows, page, ({ id }) => id, present);
    },
    get: (id, caller) => present(find(id, caller)),
    create(name, cookies, caller) {
      const row: Row = {
        ...{ id: newId("cookieSet"), name, owner_id: caller.userId ?? null, cookie_count: cookies.length },
        domains: [...new Set(cookies.map(({ domain }) => domain))].sort(),
        expires_at: expiryOf(cookies),
        sealed: sealer.seal(JSON.stringify(cookies)),
        created_at: timestamp(clock.now()),
      };
      return store.write(() => {
        const mine = db.select({ name: cookieSets.name }).from(cookieSets).where(owned(caller)).all();
        if (mine.some((other) => other.name === name))
          throw conflict("You have a cookie set of this name. Delete it first, or choose another name.");
        if (mine.length >= LIMITS.cookieSetsPerUser)
          throw invalidField("/name", `You have ${LIMITS.cookieSetsPerUser} cookie sets. Delete one first.`);
        db.insert(cookieSets).values(row).run();
        record("cookies.created", caller, row, { cookies: row.cookie_count });
        return present(row);
      });
    },
    remove(id, caller) {
      store.write(() => {
        const row = find(id, caller);
        db.delete(cookieSets).where(eq(cookieSets.id, id)).run();
        record("cookies.deleted", caller, row);
      });
    },
    grantedTo(agentId, page, caller) {
      assertAgent(agentId);
      const rows = db
        .select({ set: cookieSets })
        .from(cookieGrants)
        .innerJoin(cookieSets, eq(cookieSets.id, cookieGrants.cookie_set_id))
        .where(and(eq(cookieGrants.agent_id, agentId), owned(caller), older(page)))
        .orderBy(desc(cookieSets.id))
        .limit(page.limit + 1)
        .all();
      return listAnswer(
        rows.map(({ set }) => set),
        page,
        ({ id }) => id,
        present,
      );
    },
    async grant(id, agentId, caller) {
      const found = find(id, caller);
      assertAgent(agentId);
      await masks.learn(caller.userId, cookiesOf(found));
      return store.write(() => {
        const row = find(id, caller);
        assertAgent(agentId);
        const grant = { cookie_set_id: id, agent_id: agentId, granted_at: timestamp(clock.now()) };
        const { changes } = db.insert(cookieGrants).values(grant).onConflictDoNothing().run();
        if (changes > 0) record("cookies.granted", caller, row, { agent_id: agentId });
        return present(row);
      });
    },
    revoke(id, agentId, caller) {
      store.write(() => {
        const row = find(id, caller);
        const grant = and(eq(cookieGrants.cookie_set_id, id), eq(cookieGrants.agent_id, agentId));
        if (db.delete(cookieGrants).where(grant).run().changes > 0)
          record("cookies.revoked", caller, row, { agent_id: agentId });
      });
    },
    fileFor(execution) {
      const opened = setsFor(execution).map(({ name, sealed }) => ({
        name,
        cookies: orNothing(() => cookiesOf({ sealed })),
      }));
      const damaged = opened.filter(({ cookies }) => !cookies).map(({ name }) => name);
      const names = opened.filter(({ cookies }) => cookies).map(({ name }) => name);
      if (names.length === 0) return { text: undefined, damaged };
      const [actor, subject] = [`execution:${execution.id}`, execution.agentId];
      audit({ action: "cookies.read", actor, subject, data: { names } });
      const cookies = opened.flatMap((set) => set.cookies ?? []);
      return { text: writeNetscapeCookies(cookies, clock.now()), damaged };
    },
    grantedFor: (execution) => setsFor(execution).map(({ name }) => name),
    removeOf(userId) {
      store.write(() => db.delete(cookieSets).where(eq(cookieSets.owner_id, userId)).run());
    },
  };
}

/** Undefined for what is damaged or was sealed with another key. */
function orNothing<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}

/** When the last of them expires; null when one has no expiry. */
function expiryOf(cookies: readonly Cookie[]): string | null {
  let latest = 0;
  for (const { expiresAt } of cookies) {
    if (expiresAt === null) return null;
    latest = Math.max(latest, expiresAt);
  }
  // A date's own bound: the year 275760.
  return timestamp(Math.min(latest * 1_000, 8.64e15));
}
