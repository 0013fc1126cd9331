/**
 * Sessions of people who are logged in. A bearer session has a chain of refresh tokens, each of which is used once; a
 * second use of the same token ends the session. A cookie session has one opaque token. Each look-up reads the session
 * and its user, so a revocation takes effect at once.
 */
import { toTimestamp } from "../../core/clock.ts";
import { notFound, unauthorized } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { AccessTokens } from "../../http/access-tokens.ts";
import { authSessions, refreshTokens, users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import { presentUser, type UserRow } from "../users/model.ts";
import type { AuthSession, SessionKind, SignedIn } from "./model.ts";
import { newToken, tokenHash } from "./tokens.ts";

type SessionRow = typeof authSessions.$inferSelect;

/** Where a request comes from, kept for the list of sessions. */
export interface Visitor {
  address?: string | undefined;
  userAgent?: string | null | undefined;
}

interface Opening extends Visitor {
  kind: SessionKind;
  /** The provider that signed the user in, and its ID token, which is needed to log out there. */
  oidc?: { slug: string; idToken: string } | undefined;
}

/** What the client gets: the answer, and the cookie's value for a cookie session. */
export interface Opened {
  answer: SignedIn;
  cookie?: string;
}

export type Sessions = ReturnType<typeof createSessions>;

const TOUCH_MS = 5 * 60_000;
const SECONDS = 1_000;

const expiryOf = (createdAt: number, now: number): number =>
  Math.min(now + LIMITS.sessionIdleMs, createdAt + LIMITS.sessionAbsoluteMs);

interface SessionsDeps extends Pick<Core, "store" | "clock" | "audit" | "sealer"> {
  accessTokens: AccessTokens;
}

export function createSessions({ store, clock, audit, sealer, accessTokens }: SessionsDeps) {
  const [rows, people, refreshes] = [store.rows(authSessions), store.rows(users), store.rows(refreshTokens)];
  const arrivals = createArrivals({ store, clock, accessTokens });
  const { findLive } = arrivals;
  const end = (id: string) => {
    store.write(() => rows.remove({ id }));
  };

  function addRefreshToken(sessionId: string, expiresAt: number): string {
    const token = newToken("refresh");
    refreshes.insert({ hash: tokenHash(token), session_id: sessionId, expires_at: expiresAt });
    return token;
  }
  async function bearerAnswer(user: UserRow, sessionId: string, refreshToken: string): Promise<SignedIn> {
    return {
      access_token: await accessTokens.sign({ userId: user.id, sessionId, role: user.role }),
      refresh_token: refreshToken,
      token_type: "Bearer",
      expires_in: LIMITS.accessTokenMs / SECONDS,
      user: presentUser(user),
    };
  }
  /**
   * Makes room for one more session: a user's number of sessions is limited, and those unused for longest are removed.
   */
  function makeRoom(userId: string): void {
    const all = rows.list([{ user_id: userId }], { order: "last_used_at DESC" });
    for (const { id } of all.slice(LIMITS.sessionsPerUser - 1)) rows.remove({ id });
  }
  return {
    ...arrivals,
    end,
    /**
     * Makes a session. `also` runs in the same transaction. @throws Problem 401 when the user is gone or inactive by
     * now.
     */
    async open(userId: string, { kind, address, userAgent, oidc }: Opening, also?: () => void): Promise<Opened> {
      const now = clock.now();
      const id = newId("login");
      const cookie = kind === "cookie" ? newToken("cookie") : undefined;
      const made = store.write(() => {
        const user = people.find({ id: userId });
        if (!user?.active) throw unauthorized("This account may not log in.", "wrong_credentials");
        makeRoom(userId);
        const expires_at = expiryOf(now, now);
        rows.insert({
          id,
          user_id: userId,
          kind,
          cookie_hash: cookie ? tokenHash(cookie) : null,
          address: address ?? null,
          user_agent: userAgent?.slice(0, LIMITS.nameCharacters) ?? null,
          oidc_slug: oidc?.slug ?? null,
          id_token_sealed: oidc ? sealer.seal(oidc.idToken) : null,
          created_at: now,
          last_used_at: now,
          expires_at,
        });
        people.update({ last_login_at: toTimestamp(now) }, { id: userId });
        const data = { session_id: id, kind, ...(oidc ? { provider: oidc.slug } : {}) };
        audit({ action: "login.succeeded", actor: userId, subject: userId, address, data });
        also?.();
        const refresh = kind === "bearer" ? addRefreshToken(id, expires_at) : undefined;
        return { refresh, user: { ...user, last_login_at: toTimestamp(now) } };
      });
      if (made.refresh) return { answer: await bearerAnswer(made.user, id, made.refresh) };
      const expires_in = LIMITS.sessionIdleMs / SECONDS;
      return { answer: { token_type: "Cookie", expires_in, user: presentUser(made.user) }, cookie: cookie! };
    },
    /** @throws Problem 401 for a token that is unknown, expired or already used. Using one twice ends the session. */
    async refresh(token: string, { address }: Visitor): Promise<SignedIn> {
      const now = clock.now();
      // The outcome is committed before it is answered: an error thrown inside would undo the end of the session.
      const outcome = store.write(() => {
        const row = refreshes.find({ hash: tokenHash(token) });
        const found = row && findLive(row.session_id);
        if (!row || !found || row.expires_at <= now) return undefined;
        const { session, user } = found;
        if (row.used_at !== null) {
          end(session.id);
          audit({
            action: "refresh.reused",
            actor: user.id,
            subject: user.id,
            address,
            data: { session_id: session.id },
          });
          return undefined;
        }
        const expires_at = expiryOf(session.created_at, now);
        refreshes.update({ used_at: now }, { hash: row.hash });
        rows.update({ last_used_at: now, expires_at, address: address ?? session.address }, { id: session.id });
        return { user, sessionId: session.id, refresh: addRefreshToken(session.id, expires_at) };
      });
      if (!outcome)
        throw unauthorized("The refresh token is not valid, or no longer. Log in again.", "refresh_refused");
      return bearerAnswer(outcome.user, outcome.sessionId, outcome.refresh);
    },
    /** The session that a refresh token belongs to. */
    ofRefreshToken(token: string): SessionRow | undefined {
      const row = refreshes.find({ hash: tokenHash(token) });
      return row && rows.find({ id: row.session_id });
    },
    list(userId: string, currentId: string | undefined): AuthSession[] {
      return rows
        .list([{ user_id: userId }], { order: "last_used_at DESC, id" })
        .filter((row) => row.expires_at > clock.now())
        .map((row) => presentSession(row, currentId));
    },
    /** @throws Problem 404 unless it is that user's. */
    revoke: (userId: string, id: string): void =>
      store.write(() => {
        if (rows.remove({ id, user_id: userId }) === 0) throw notFound("session");
        audit({ action: "session.revoked", actor: userId, subject: id });
      }),
    /** Ends all of a user's sessions, except one if given. */
    endAll(userId: string, except?: string): void {
      store.write(() => rows.remove({ user_id: userId }, except === undefined ? undefined : ["id <> ?", except]));
    },
    /** Whether one of the user's sessions was opened from this address. */
    knowsAddress(userId: string, address: string | undefined): boolean {
      if (address === undefined) return false;
      return rows.find({ user_id: userId, address }) !== undefined;
    },
    idToken: (session: SessionRow): string | undefined =>
      session.id_token_sealed ? sealer.open(session.id_token_sealed) : undefined,
    prune(): void {
      store.write(() => rows.remove(["expires_at < ?", clock.now()]));
    },
  };
}

/** A session that is valid, with its user. */
interface Found {
  session: SessionRow;
  user: UserRow;
}

type ArrivalsDeps = Pick<SessionsDeps, "store" | "clock" | "accessTokens">;

/** Finds the session of a request from its credentials. */
function createArrivals({ store, clock, accessTokens }: ArrivalsDeps) {
  const [rows, people] = [store.rows(authSessions), store.rows(users)];
  function findValid(session: SessionRow | undefined): Found | undefined {
    if (!session || session.expires_at <= clock.now()) return undefined;
    const user = people.find({ id: session.user_id });
    return user?.active ? { session, user } : undefined;
  }
  const findLive = (id: string): Found | undefined => findValid(rows.find({ id }));
  /** Extends a session that is in use, at most once in TOUCH_MS. */
  function touch(session: SessionRow): void {
    const now = clock.now();
    if (now - session.last_used_at < TOUCH_MS) return;
    const change = {
      last_used_at: now,
      ...(session.kind === "cookie" ? { expires_at: expiryOf(session.created_at, now) } : {}),
    };
    store.write(() => rows.update(change, { id: session.id }));
  }

  return {
    /** The session and its user, if both are valid. */
    findLive,
    async byAccessToken(token: string): Promise<Found | undefined> {
      const named = await accessTokens.verify(token);
      const found = named && findLive(named.sessionId);
      if (!found || found.user.id !== named.userId || found.session.kind !== "bearer") return undefined;
      touch(found.session);
      return found;
    },
    byCookie(cookie: string): Found | undefined {
      const found = findValid(rows.find({ cookie_hash: tokenHash(cookie) }));
      if (found) touch(found.session);
      return found;
    },
  };
}

const presentSession = (row: SessionRow, currentId: string | undefined): AuthSession => ({
  id: row.id,
  kind: row.kind,
  current: row.id === currentId,
  address: row.address,
  user_agent: row.user_agent,
  provider: row.oidc_slug,
  created_at: toTimestamp(row.created_at),
  last_used_at: toTimestamp(row.last_used_at),
  expires_at: toTimestamp(row.expires_at),
});
