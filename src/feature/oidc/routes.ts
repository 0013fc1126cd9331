/** /v1/auth/oidc: providers for administrators, buttons for everybody, and the redirects of a sign-on. */

import { Type as t } from "@sinclair/typebox";
import type { OidcClient } from "../../adapter/oidc.ts";
import { isProblem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Caller } from "../../http/caller.ts";
import { cookieOf, SESSION_COOKIE } from "../../http/cookies.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import type { Site } from "../../http/site.ts";
import { SignedIn } from "../auth/model.ts";
import { CallbackBody, OidcButton, OidcCreate, OidcProvider, OidcTest, OidcTestResult, OidcUpdate } from "./model.ts";
import type { OidcProviders, ProviderRow } from "./providers.ts";
import type { Arrived, SignOn } from "./sign-on.ts";

const SlugPath = t.Object({ slug: t.String({ maxLength: 64 }) });
const IdPath = t.Object({ slug: t.String({ maxLength: 64, description: "The provider's slug." }) });
const PATH = "/v1/auth/oidc";
const FLOW_COOKIE = "skep_sign_on_";
const flowCookie = (state: string) => FLOW_COOKIE + state.replace(/\W/g, "").slice(0, 16);

/** Opens a session of the requested kind for the person who signed on. */
type Open = (
  arrived: Arrived,
  kind: "bearer" | "cookie",
  request: Request,
  caller: Caller,
) => Promise<{ answer: SignedIn; cookie?: string }>;

interface OidcRouteDeps {
  providers: OidcProviders;
  signOn: SignOn;
  probe: OidcClient["probe"];
  site: Site;
  open: Open;
}

export const oidcRoutes = (deps: OidcRouteDeps) => [...providerRoutes(deps), ...signOnRoutes(deps)];

const redirectUri = (site: Site, slug: string, request: Request) => `${site.base(request)}${PATH}/${slug}/callback`;

function providerRoutes({ providers, probe, site }: OidcRouteDeps) {
  const present = (row: ProviderRow, request: Request): OidcProvider => {
    const { client_secret_sealed, ...shown } = row;
    return {
      ...shown,
      id: row.slug,
      client_secret_set: client_secret_sealed !== null,
      redirect_uri: readOrNull(() => redirectUri(site, row.slug, request)),
    };
  };

  return tagOperations("auth", [
    defineOperation("listOidc", `GET ${PATH}`, {
      access: "public",
      credential: true,
      answer: t.Object({ items: t.Array(t.Union([OidcProvider, OidcButton])), next_cursor: t.Null() }),
      summary: "List sign-on providers: buttons for everybody, all settings for administrators",
      handler: ({ caller, request }) => {
        const items = caller.admin
          ? providers.all().map((row) => present(row, request))
          : providers
              .all()
              .filter((row) => row.enabled)
              .map(({ slug, name, button }) => ({ slug, name, button }));
        return { items, next_cursor: null };
      },
    }),
    defineOperation("createOidc", `POST ${PATH}`, {
      access: "admin",
      scope: "accounts",
      body: OidcCreate,
      answer: { 201: OidcProvider },
      summary: "Add a sign-on provider",
      handler: ({ body, caller, answer, request }) =>
        answer.created(
          (provider) => `${PATH}/${provider.slug}`,
          () => present(providers.create(body, caller), request),
        ),
    }),
    defineOperation("testOidc", `POST ${PATH}/test`, {
      access: "admin",
      scope: "accounts",
      body: OidcTest,
      answer: OidcTestResult,
      summary: "Test a sign-on provider before it is stored: discovery, keys, redirect address and secret",
      handler: async ({ body, request }) => {
        const { scopes, ...settings } = providers.draft(body);
        const redirect_uri = readOrNull(() => redirectUri(site, body.slug, request));
        const findings = await probe(settings, { redirectUri: redirect_uri, scopes });
        const has = (verdict: string) => findings.some((finding) => finding.verdict === verdict);
        return { verdict: has("fail") ? "fail" : has("warn") ? "warn" : "ok", redirect_uri, findings };
      },
    }),
    defineOperation("getOidc", `GET ${PATH}/:slug`, {
      access: "admin",
      credential: true,
      params: IdPath,
      answer: OidcProvider,
      summary: "Get a sign-on provider",
      handler: ({ params, request }) => present(providers.find(params.slug), request),
    }),
    defineOperation("updateOidc", `PUT ${PATH}/:slug`, {
      access: "admin",
      scope: "accounts",
      params: IdPath,
      body: OidcUpdate,
      answer: OidcProvider,
      summary: "Change a sign-on provider; another issuer drops the client secret",
      handler: ({ params, body, caller, request }) => present(providers.update(params.slug, body, caller), request),
    }),
    defineOperation("deleteOidc", `DELETE ${PATH}/:slug`, {
      access: "admin",
      scope: "accounts",
      params: IdPath,
      answer: 204,
      summary: "Remove a sign-on provider, keeping the accounts",
      handler: ({ params, caller }) => providers.remove(params.slug, caller),
    }),
  ]);
}

function signOnRoutes({ signOn, site, open }: OidcRouteDeps) {
  const createBindingCookie = (state: string, value: string, maxAge: number) =>
    // The cookie must be Lax, because the browser brings the answer by a navigation from the provider's site.
    site.cookie(flowCookie(state), value, { path: PATH, sameSite: "Lax", maxAge });
  const sessionCookie = (value: string) =>
    site.cookie(SESSION_COOKIE, value, { sameSite: "Strict", maxAge: LIMITS.sessionIdleMs / 1_000 });

  async function begin(slug: string, returnTo: string | undefined, request: Request): Promise<Response> {
    const { url, state, binding: value } = await signOn.begin(slug, redirectUri(site, slug, request), returnTo);
    const headers = { "Set-Cookie": createBindingCookie(state, value, LIMITS.signOnMs / 1_000) };
    if (!request.headers.get("accept")?.includes("application/json"))
      return new Response(null, { status: 302, headers: { ...headers, Location: url } });
    const expires_in = LIMITS.signOnMs / 1_000;
    return Response.json({ authorization_url: url, state, expires_in }, { headers });
  }
  const finish = (slug: string, parameters: URLSearchParams, request: Request, caller: Caller) =>
    signOn.finish(slug, parameters, cookieOf(request, flowCookie(parameters.get("state") ?? "")), caller.address);

  /**
   * Answers a browser that comes back from the provider: with a session cookie and a redirect to the page it wanted, or
   * with a page that says why not.
   */
  async function arrive(slug: string, request: Request, caller: Caller): Promise<Response> {
    const parameters = new URL(request.url).searchParams;
    const headers = new Headers({ "Cache-Control": "no-store" });
    headers.append("Set-Cookie", createBindingCookie(parameters.get("state") ?? "", "", 0));
    try {
      const arrived = await finish(slug, parameters, request, caller);
      const { cookie } = await open(arrived, "cookie", request, caller);
      headers.append("Set-Cookie", sessionCookie(cookie ?? ""));
      headers.set("Location", site.localPath(arrived.returnTo));
      return new Response(null, { status: 303, headers });
    } catch (error) {
      if (!isProblem(error) || request.headers.get("accept")?.includes("application/json")) throw error;
      headers.set("Content-Type", "text/html; charset=utf-8");
      headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
      return new Response(renderPage(error.detail, error.code, `${site.prefix}/`), { status: error.status, headers });
    }
  }

  return tagOperations("auth", [
    defineOperation("getOidcAuthorize", `GET ${PATH}/:slug/authorize`, {
      access: "public",
      credential: true,
      limit: "sign-on",
      params: SlugPath,
      query: t.Object({
        return_to: t.Optional(
          t.String({ maxLength: 2_000, description: "Path on this site to return to after the sign-on." }),
        ),
      }),
      answer: t.Object({ authorization_url: t.String(), state: t.String(), expires_in: t.Integer() }),
      summary: "Start a sign-on: redirect to the provider, or get its address as JSON",
      documented: { responses: { 302: { description: "Redirect to the provider." } } },
      handler: ({ params, query, request }) => begin(params.slug, query.return_to, request),
    }),
    defineOperation("getOidcCallback", `GET ${PATH}/:slug/callback`, {
      access: "public",
      credential: true,
      limit: "sign-on",
      params: SlugPath,
      summary: "Complete a sign-on in a browser: set the session cookie and redirect",
      documented: {
        responses: {
          303: { description: "Redirect to the page that was asked for." },
          ...Object.fromEntries([400, 401, 403, 404, 409, 503].map((status) => [status, FAILED_PAGE])),
        },
      },
      handler: ({ params, request, caller }) => arrive(params.slug, request, caller),
    }),
    defineOperation("callbackOidc", `POST ${PATH}/:slug/callback`, {
      access: "public",
      limit: "sign-on",
      params: SlugPath,
      body: CallbackBody,
      answer: SignedIn,
      summary: "Complete a sign-on from a page: get tokens or a session cookie",
      handler: async ({ params, body, request, caller, set }) => {
        const { session = "bearer", ...given } = body;
        const parameters = new URLSearchParams(Object.entries(given).filter((pair) => pair[1] !== undefined));
        const arrived = await finish(params.slug, parameters, request, caller);
        const { answer, cookie } = await open(arrived, session, request, caller);
        const cookies = [createBindingCookie(body.state, "", 0), ...(cookie ? [sessionCookie(cookie)] : [])];
        Object.assign(set.headers, { "Set-Cookie": cookies });
        return answer;
      },
    }),
  ]);
}

/** A browser gets a page; a client that asks for JSON gets a problem document. */
const FAILED_PAGE = {
  description: "Why the sign-on failed.",
  content: {
    "text/html": { schema: { type: "string" } },
    "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
  },
} as const;

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
const renderPage = (detail: string, code: string, home: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign-on failed</title></head><body><h1>Sign-on failed</h1><p>${escapeHtml(detail)}</p><p><code>${escapeHtml(code)}</code></p><p><a href="${escapeHtml(home)}">Back</a></p></body></html>`;

function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
