/**
 * Sets of browser cookies. They are sealed at rest and never shown again. An execution gets the sets of its user that
 * were granted to its agent; so an agent that two users share works with the cookies of the user it works for.
 */

import { attempt } from "../../core/attempt.ts";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { ownJson } from "../../core/own-json.ts";
import { type Asker, NO_PROJECTS } from "../../core/ownership.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import type { Condition } from "../../store/reader.ts";
import { cookieGrants, cookieSets } from "../../store/tables/cookies.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { createCookieMasks } from "./masks.ts";
import type { CookieSet } from "./model.ts";
import { type Cookie, writeNetscapeCookies } from "./netscape.ts";

interface CookiesDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  masking: Pick<Masking, "add">;
  agentExists(agentId: string): boolean;
  /** The agents above the session whose grants limit it. */
  boundsOf(sessionId: string): string[];
}

export type Cookies = ReturnType<typeof createCookies>;

/** An execution: the agent, and the user for whom it works. */
interface Worker {
  id: string;
  sessionId: string;
  agentId: string;
  userId?: string | undefined;
}

type Row = typeof cookieSets.$inferSelect;

export function createCookies({ store, clock, sealer, audit, masking, agentExists, boundsOf }: CookiesDeps) {
  const sets = store.rows(cookieSets);
  const grants = store.rows(cookieGrants);
  const limitTo = (asker: Asker) => buildReadCondition(asker, WHOSE.cookie_sets);
  const find = (id: string, caller: Caller): Row => expectFound(sets.find({ id }, limitTo(caller)), "cookie set");
  /** Condition: the set was granted to the agent. */
  const grantedTo = (agentId: string): Condition => [
    "cookie_sets.id IN (SELECT cookie_set_id FROM cookie_grants WHERE agent_id = ?)",
    agentId,
  ];
  const present = ({ sealed: _, ...row }: Row): CookieSet => ({
    ...row,
    expired: row.expires_at !== null && Date.parse(row.expires_at) <= clock.now(),
    granted_agents: grants.list([{ cookie_set_id: row.id }], { order: "agent_id" }).map(({ agent_id }) => agent_id),
  });
  const record = (action: string, caller: Caller, { id, name }: Row, data: Record<string, unknown> = {}) =>
    audit({ action, ...actedBy(caller), subject: id, data: { name, ...data } });
  const list = (where: Condition, page: Page, caller: Caller): ListAnswer<CookieSet> =>
    listById(sets.page([limitTo(caller), where], page), page, present);
  const assertAgent = (agentId: string): void => {
    if (!agentExists(agentId)) throw notFound("agent");
  };

  const isGranted = (cookie_set_id: string, agent_id: string): boolean =>
    grants.find({ cookie_set_id, agent_id }) !== undefined;
  const setsFor = ({ agentId, userId, sessionId }: Worker) => {
    const bounds = boundsOf(sessionId);
    const granted = sets.list([grantedTo(agentId), limitTo({ admin: false, userId, projects: NO_PROJECTS })], {
      order: "id",
    });
    return granted.filter(({ id }) => bounds.every((other) => isGranted(id, other)));
  };
  const cookiesOf = ({ sealed }: Pick<Row, "sealed">) => ownJson<Cookie[]>(sealer.open(sealed));
  const masks = createCookieMasks(masking);
  for (const row of sets.list([["id IN (SELECT cookie_set_id FROM cookie_grants)"]])) {
    const cookies = attempt(() => cookiesOf(row));
    // A set that is damaged, or was sealed with another key, cannot be used, so it needs no masks.
    if (cookies) masks.learnNow(row.owner_id ?? undefined, cookies);
  }

  return {
    /** The caller's own sets, newest first. */
    list: (page: Page, caller: Caller): ListAnswer<CookieSet> => list(undefined, page, caller),
    /** @throws Problem 404, also for another user's set. */
    get: (id: string, caller: Caller): CookieSet => present(find(id, caller)),
    /** @throws Problem 409 same name, 422 too many sets. */
    create(name: string, cookies: readonly Cookie[], caller: Caller): CookieSet {
      const row: Row = {
        id: newId("cookieSet"),
        name,
        owner_id: caller.userId ?? null,
        cookie_count: cookies.length,
        domains: [...new Set(cookies.map(({ domain }) => domain))].sort(),
        expires_at: expiryOf(cookies),
        sealed: sealer.seal(JSON.stringify(cookies)),
        created_at: toTimestamp(clock.now()),
      };
      return store.write(() => {
        if (sets.find({ name }, limitTo(caller)))
          throw conflict("You have a cookie set of this name. Delete it first, or choose another name.");
        if (sets.count(limitTo(caller)) >= LIMITS.cookieSetsPerUser)
          throw invalidField("/name", `You have ${LIMITS.cookieSetsPerUser} cookie sets. Delete one first.`);
        sets.insert(row);
        record("cookies.created", caller, row, { cookies: row.cookie_count });
        return present(row);
      });
    },
    remove: (id: string, caller: Caller): void =>
      store.write(() => {
        const row = find(id, caller);
        sets.remove({ id });
        record("cookies.deleted", caller, row);
      }),
    /** The caller's sets that the agent was granted. */
    grantedTo(agentId: string, page: Page, caller: Caller): ListAnswer<CookieSet> {
      assertAgent(agentId);
      return list(grantedTo(agentId), page, caller);
    },
    /**
     * Grants a set to an agent. From now on the values are masked. Idempotent. @throws Problem 404 unknown set or
     * agent, 409 too many cookies.
     */
    async grant(id: string, agentId: string, caller: Caller): Promise<CookieSet> {
      const found = find(id, caller);
      assertAgent(agentId);
      await masks.learn(caller.userId, cookiesOf(found));
      return store.write(() => {
        const row = find(id, caller);
        assertAgent(agentId);
        const grant = { cookie_set_id: id, agent_id: agentId, granted_at: toTimestamp(clock.now()) };
        if (grants.insertIfNew(grant)) record("cookies.granted", caller, row, { agent_id: agentId });
        return present(row);
      });
    },
    revoke: (id: string, agentId: string, caller: Caller): void =>
      store.write(() => {
        const row = find(id, caller);
        if (grants.remove({ cookie_set_id: id, agent_id: agentId }) > 0)
          record("cookies.revoked", caller, row, { agent_id: agentId });
      }),
    /**
     * The cookie file for one execution, and the names of sets that cannot be opened.
     * @returns no text when none of the user's sets that were granted to the agent can be opened.
     */
    fileFor(execution: Worker): { text: string | undefined; damaged: string[] } {
      const opened = setsFor(execution).map(({ name, sealed }) => ({
        name,
        cookies: attempt(() => cookiesOf({ sealed })),
      }));
      const damaged = opened.filter(({ cookies }) => !cookies).map(({ name }) => name);
      const names = opened.filter(({ cookies }) => cookies).map(({ name }) => name);
      if (names.length === 0) return { text: undefined, damaged };
      const [actor, subject] = [`execution:${execution.id}`, execution.agentId];
      audit({ action: "cookies.read", actor, subject, data: { names } });
      const cookies = opened.flatMap((set) => set.cookies ?? []);
      return { text: writeNetscapeCookies(cookies, clock.now()), damaged };
    },
    /** Names of the sets that `fileFor` would give, oldest first. */
    grantedFor: (execution: Worker): string[] => setsFor(execution).map(({ name }) => name),
    /** Removes a deleted user's cookies. */
    removeOf(userId: string): void {
      store.write(() => sets.remove({ owner_id: userId }));
    },
  };
}

/** When the last of the cookies expires; null when one has no expiry. */
function expiryOf(cookies: readonly Cookie[]): string | null {
  let latest = 0;
  for (const { expiresAt } of cookies) {
    if (expiresAt === null) return null;
    latest = Math.max(latest, expiresAt);
  }
  // The latest time that a date can hold, in the year 275760.
  return toTimestamp(Math.min(latest * 1_000, 8.64e15));
}
