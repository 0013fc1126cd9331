/** /v1/auth: log-in, refresh, log-out, setup, the caller's account, second factor, sessions. Keys: key-routes.ts. */

import { Type as t } from "@sinclair/typebox";
import { forbidden } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { isOwner } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { SESSION_COOKIE } from "../../http/cookies.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import { presentUser } from "../users/model.ts";
import {
  AuthSession,
  LoginBody,
  LogoutBody,
  Me,
  RecoveryCodes,
  RefreshBody,
  SecondFactorBody,
  SecondFactorNeeded,
  SetupBody,
  SignedIn,
  TwoFactorDisable,
  TwoFactorSetup,
  TwoFactorVerify,
} from "./model.ts";
import type { Auth } from "./service.ts";
import type { Opened, Visitor } from "./sessions.ts";

const COOKIE_SECONDS = LIMITS.sessionIdleMs / 1_000;

interface AuthRouteDeps extends Pick<Core, "store" | "site"> {
  auth: Auth;
  /** Address at which the browser ends its session at the provider; undefined when the provider has none. */
  providerLogout(slug: string, idToken: string, returnTo: string): Promise<string | undefined>;
}

/** The id of the caller's account. @throws Problem 403 for callers without an account. */
export function accountOf(caller: Caller): string {
  if (caller.userId !== undefined) return caller.userId;
  throw forbidden("This needs an account: log in, or create an administrator first.", "account_needed");
}

const visitorOf = (request: Request, caller: Caller): Visitor => ({
  address: caller.address,
  userAgent: request.headers.get("user-agent"),
});

type Setting = { headers: Record<string, unknown>; status?: unknown };

export const authRoutes = (deps: AuthRouteDeps) => [...loginRoutes(deps), ...accountRoutes(deps)];

function loginRoutes({ auth, site, providerLogout }: AuthRouteDeps) {
  const { login, sessions, setup } = auth;
  const sessionCookie = (value: string, maxAge: number) =>
    site.cookie(SESSION_COOKIE, value, { sameSite: "Strict", maxAge });
  const setCookie = (set: Setting, { answer, cookie }: Opened): SignedIn => {
    if (cookie !== undefined) set.headers["Set-Cookie"] = sessionCookie(cookie, COOKIE_SECONDS);
    return answer;
  };
  async function logOut(
    caller: Caller,
    request: Request,
    body: typeof LogoutBody.static | null,
  ): Promise<string | undefined> {
    const given = body?.refresh_token === undefined ? undefined : sessions.ofRefreshToken(body.refresh_token);
    const named = given && (caller.userId === undefined || isOwner(caller, given.user_id)) ? given : undefined;
    const current = caller.sessionId === undefined ? undefined : sessions.findLive(caller.sessionId)?.session;
    const idToken = current && sessions.idToken(current);
    for (const session of [named, current]) if (session) sessions.end(session.id);
    if (!body?.end_provider_session || !idToken || !current?.oidc_slug) return undefined;
    return providerLogout(current.oidc_slug, idToken, `${site.base(request)}/`);
  }

  return tagOperations("auth", [
    defineOperation("login", "POST /v1/auth/login", {
      access: "public",
      limit: "login",
      body: LoginBody,
      answer: t.Union([SignedIn, SecondFactorNeeded]),
      summary: "Log in with e-mail and password",
      handler: async ({ body, request, caller, set }) => {
        const result = await login.login(body, visitorOf(request, caller));
        return "answer" in result ? setCookie(set, result) : result;
      },
    }),
    defineOperation("loginWithCode", "POST /v1/auth/login/2fa", {
      access: "public",
      limit: "login",
      body: SecondFactorBody,
      answer: SignedIn,
      summary: "Complete a log-in with a two-factor code or a recovery code",
      handler: async ({ body, request, caller, set }) =>
        setCookie(set, await login.secondFactor(body, visitorOf(request, caller))),
    }),
    defineOperation("refresh", "POST /v1/auth/refresh", {
      access: "public",
      limit: "refresh",
      body: RefreshBody,
      answer: SignedIn,
      summary: "Exchange a refresh token for new tokens; each refresh token works once",
      handler: ({ body, request, caller }) => sessions.refresh(body.refresh_token, visitorOf(request, caller)),
    }),
    defineOperation("logout", "POST /v1/auth/logout", {
      access: "user",
      scope: "accounts",
      body: LogoutBody,
      answer: { 200: t.Object({ logout_url: t.String() }), 204: t.Void() },
      summary: "Log out and end the session and its tokens",
      handler: async ({ body, request, caller, set }) => {
        const logout_url = await logOut(caller, request, body ?? null);
        set.headers["Set-Cookie"] = sessionCookie("", 0);
        if (logout_url !== undefined) return { logout_url };
        set.status = 204;
        return undefined;
      },
    }),
    defineOperation("createSetup", "POST /v1/auth/setup", {
      access: "public",
      limit: "setup",
      body: SetupBody,
      answer: { 201: SignedIn },
      summary: "Create the first administrator",
      handler: async ({ body, request, caller, set }) => {
        const viaProxy = ["x-forwarded-for", "forwarded", "x-real-ip", "via"].some((name) => request.headers.has(name));
        const result = setCookie(set, await setup.run(body, visitorOf(request, caller), viaProxy));
        set.status = 201;
        return result;
      },
    }),
  ]);
}

/** Routes for the caller's own account. */
function accountRoutes({ auth: { sessions, twoFactor }, store }: AuthRouteDeps) {
  const people = store.rows(users);
  const presentMe = (caller: Caller): Me => {
    const row = caller.userId === undefined ? undefined : people.find({ id: caller.userId });
    const session = {
      kind: caller.kind === "engine" ? ("engine" as const) : row ? ("user" as const) : ("local" as const),
      id: caller.sessionId ?? null,
      scopes: caller.scopes ? [...caller.scopes] : null,
    };
    return { ...(row ? presentUser(row) : localUser(session.kind)), session };
  };

  return tagOperations("auth", [
    defineOperation("getMe", "GET /v1/auth/me", {
      access: "user",
      credential: true,
      answer: Me,
      summary: "Get the current user and session",
      handler: ({ caller }) => presentMe(caller),
    }),
    defineOperation("enable2fa", "POST /v1/auth/2fa/enable", {
      access: "user",
      scope: "accounts",
      answer: TwoFactorSetup,
      summary: "Start to set up two-factor verification and get a secret to scan",
      handler: ({ caller }) => twoFactor.enable(accountOf(caller)),
    }),
    defineOperation("verify2fa", "POST /v1/auth/2fa/verify", {
      access: "user",
      scope: "accounts",
      body: TwoFactorVerify,
      answer: RecoveryCodes,
      summary: "Turn on two-factor verification and get recovery codes, which are shown only once",
      handler: ({ body, caller }) => twoFactor.verify(accountOf(caller), body.code, caller.address),
    }),
    defineOperation("disable2fa", "POST /v1/auth/2fa/disable", {
      access: "user",
      scope: "accounts",
      body: TwoFactorDisable,
      answer: 204,
      summary: "Turn off two-factor verification",
      handler: ({ body, caller }) => twoFactor.disable(accountOf(caller), body, caller.address),
    }),
    defineOperation("listSessions", "GET /v1/auth/sessions", {
      access: "user",
      credential: true,
      answer: t.Object({ items: t.Array(AuthSession), next_cursor: t.Null() }),
      summary: "List your log-in sessions",
      handler: ({ caller }) => ({ items: sessions.list(caller.userId ?? "", caller.sessionId), next_cursor: null }),
    }),
    defineOperation("deleteSession", "DELETE /v1/auth/sessions/:id", {
      access: "user",
      scope: "accounts",
      answer: 204,
      summary: "End one of your log-in sessions",
      handler: ({ params, caller }) => sessions.revoke(accountOf(caller), params.id),
    }),
  ]);
}

/** The shape of a user for callers that have no account. */
function localUser(kind: "local" | "engine" | "user") {
  return {
    id: kind,
    email: `${kind}@localhost`,
    display_name: kind === "engine" ? "Engine" : "Local administrator",
    role: "admin" as const,
    active: true,
    two_factor_enabled: false,
    has_password: false,
    last_login_at: null,
    created_at: "1970-01-01T00:00:00.000Z",
  };
}
