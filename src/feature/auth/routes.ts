/** /v1/auth: log-in, refresh, log-out, setup, who am I, second factor, sessions. Keys: key-routes.ts. */
import { Type as t } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import { Elysia } from "elysia";
import { forbidden } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";
import { SESSION_COOKIE } from "../../http/cookies.ts";
import type { Site } from "../../http/site.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
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

const tags = ["auth"];
const COOKIE_SECONDS = LIMITS.sessionIdleMs / 1_000;

export interface AuthRouteDeps {
  auth: Auth;
  store: Store;
  site: Site;
  /** Where the session at the provider is ended; undefined when there is no such address. */
  providerLogout(slug: string, idToken: string, returnTo: string): Promise<string | undefined>;
}

/** The caller's account. @throws Problem 403 for those without one. */
export function accountOf(caller: Caller): string {
  if (caller.userId !== undefined) return caller.userId;
  throw forbidden("This needs an account: log in, or create an administrator first.", "account_needed");
}

const visitorOf = (request: Request, caller: Caller): Visitor => ({
  address: caller.address,
  userAgent: request.headers.get("user-agent"),
});

type Setting = { headers: Record<string, unknown>; status?: unknown };

export function authRoutes(base: Base, { auth, store, site, providerLogout }: AuthRouteDeps) {
  const { login, sessions, setup, twoFactor } = auth;
  const sessionCookie = (value: string, maxAge: number) =>
    site.cookie(SESSION_COOKIE, value, { sameSite: "Strict", maxAge });
  const answered = (set: Setting, { answer, cookie }: Opened): SignedIn => {
    if (cookie !== undefined) set.headers["Set-Cookie"] = sessionCookie(cookie, COOKIE_SECONDS);
    return answer;
  };
  const me = (caller: Caller): Me => {
    const row =
      caller.userId === undefined ? undefined : store.db.select().from(users).where(eq(users.id, caller.userId)).get();
    const session = {
      kind: caller.kind === "engine" ? ("engine" as const) : row ? ("user" as const) : ("local" as const),
      id: caller.sessionId ?? null,
      scopes: caller.scopes ? [...caller.scopes] : null,
    };
    return { ...(row ? presentUser(row) : localUser(session.kind)), session };
  };
  async function logout(
    caller: Caller,
    request: Request,
    body: typeof LogoutBody.static | null,
  ): Promise<string | undefined> {
    const given = body?.refresh_token === undefined ? undefined : sessions.ofRefreshToken(body.refresh_token);
    const named = given && (caller.userId === undefined || given.user_id === caller.userId) ? given : undefined;
    const current = caller.sessionId === undefined ? undefined : sessions.live(caller.sessionId)?.session;
    const idToken = current && sessions.idToken(current);
    for (const session of [named, current]) if (session) sessions.end(session.id);
    if (!body?.end_provider_session || !idToken || !current?.oidc_slug) return undefined;
    return providerLogout(current.oidc_slug, idToken, `${site.base(request)}/`);
  }

  return new Elysia({ name: "skep/auth" })
    .use(base)
    .post(
      "/v1/auth/login",
      async ({ body, request, caller, set }) => {
        const result = await login.login(body, visitorOf(request, caller));
        return "answer" in result ? answered(set, result) : result;
      },
      {
        access: "public",
        limit: "login",
        body: LoginBody,
        response: { 200: t.Union([SignedIn, SecondFactorNeeded]) },
        detail: { tags, summary: "Log in with e-mail and password" },
      },
    )
    .post(
      "/v1/auth/login/2fa",
      async ({ body, request, caller, set }) =>
        answered(set, await login.secondFactor(body, visitorOf(request, caller))),
      {
        access: "public",
        limit: "login",
        body: SecondFactorBody,
        response: { 200: SignedIn },
        detail: { tags, operationId: "loginWithCode", summary: "Log in, second step: a code, or a recovery code" },
      },
    )
    .post(
      "/v1/auth/refresh",
      ({ body, request, caller }) => sessions.refresh(body.refresh_token, visitorOf(request, caller)),
      {
        access: "public",
        limit: "refresh",
        body: RefreshBody,
        response: { 200: SignedIn },
        detail: { tags, summary: "Exchange a refresh token, once, for new tokens" },
      },
    )
    .post(
      "/v1/auth/logout",
      async ({ body, request, caller, set }) => {
        const logout_url = await logout(caller, request, body);
        set.headers["Set-Cookie"] = sessionCookie("", 0);
        if (logout_url !== undefined) return { logout_url };
        set.status = 204;
        return undefined;
      },
      {
        access: "user",
        body: LogoutBody,
        response: { 200: t.Object({ logout_url: t.String() }), 204: t.Void() },
        detail: { tags, summary: "Log out: end the session and its tokens" },
      },
    )
    .post(
      "/v1/auth/setup",
      async ({ body, request, caller, set }) => {
        const viaProxy = ["x-forwarded-for", "forwarded", "x-real-ip", "via"].some((name) => request.headers.has(name));
        const result = answered(set, await setup.run(body, visitorOf(request, caller), viaProxy));
        set.status = 201;
        return result;
      },
      {
        access: "public",
        limit: "setup",
        body: SetupBody,
        response: { 201: SignedIn },
        detail: { tags, summary: "Create the first administrator" },
      },
    )
    .get("/v1/auth/me", ({ caller }) => me(caller), {
      access: "user",
      response: { 200: Me },
      detail: { tags, summary: "Who I am" },
    })
    .post("/v1/auth/2fa/enable", ({ caller }) => twoFactor.enable(accountOf(caller)), {
      access: "user",
      response: { 200: TwoFactorSetup },
      detail: { tags, summary: "Begin two-factor verification: a secret to scan" },
    })
    .post("/v1/auth/2fa/verify", ({ body, caller }) => twoFactor.verify(accountOf(caller), body.code, caller.address), {
      access: "user",
      body: TwoFactorVerify,
      response: { 200: RecoveryCodes },
      detail: { tags, summary: "Switch two-factor verification on; answers recovery codes once" },
    })
    .post(
      "/v1/auth/2fa/disable",
      async ({ body, caller, set }) => {
        await twoFactor.disable(accountOf(caller), body, caller.address);
        set.status = 204;
      },
      {
        access: "user",
        body: TwoFactorDisable,
        response: { 204: t.Void() },
        detail: { tags, summary: "Switch two-factor verification off" },
      },
    )
    .get(
      "/v1/auth/sessions",
      ({ caller }) => ({ items: sessions.list(caller.userId ?? "", caller.sessionId), next_cursor: null }),
      {
        access: "user",
        response: { 200: t.Object({ items: t.Array(AuthSession), next_cursor: t.Null() }) },
        detail: { tags, summary: "My log-ins" },
      },
    )
    .delete(
      "/v1/auth/sessions/:id",
      ({ params, caller, set }) => {
        sessions.revoke(accountOf(caller), params.id);
        set.status = 204;
      },
      {
        access: "user",
        params: t.Object({ id: t.String() }),
        response: { 204: t.Void() },
        detail: { tags, summary: "End one of my log-ins" },
      },
    );
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
