/**
 * Logging in to tool servers by OAuth 2.1, through the protocol library: metadata, registration, PKCE, the issuer of
 * answers and of kept credentials are checked there. This keeps what it needs, and never opens an address itself.
 */
import type * as Library from "@modelcontextprotocol/client";
import { isLoopback } from "../../core/config.ts";
import { isProblem, messageOf, Problem } from "../../core/errors.ts";
import type { HttpFetch } from "./http-fetch.ts";

/** All that is kept of a server's authorization server; sealed at rest. */
export interface Credentials {
  client?: Library.StoredOAuthClientInformation;
  tokens?: Library.StoredOAuthTokens;
  discovery?: Library.OAuthDiscoveryState;
}

export interface OAuthServer {
  /** The tool server's address. */
  url: string;
  fetch: HttpFetch;
  /** Where browsers come back to. */
  redirectUri: string;
}

/** A login that a browser has been sent to. */
export interface BegunLogin {
  authorizationUrl: string;
  verifier: string;
  credentials: Credentials;
}

/** A provider over kept credentials. */
function providerOf(
  server: Pick<OAuthServer, "redirectUri">,
  kept: Credentials,
  flow: Flow,
): Library.OAuthClientProvider {
  const ofIssuer = <T extends { issuer?: string }>(value: T | undefined, issuer: string | undefined) =>
    value !== undefined && (issuer === undefined || value.issuer === undefined || value.issuer === issuer)
      ? value
      : undefined;
  const stored = <T>(value: T, ctx?: Library.OAuthClientInformationContext): T =>
    ctx === undefined ? value : { ...value, issuer: ctx.issuer };
  return {
    redirectUrl: server.redirectUri,
    clientMetadata: {
      client_name: "Skep",
      redirect_uris: [server.redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => flow.state,
    clientInformation: (ctx) => ofIssuer(kept.client, ctx?.issuer),
    saveClientInformation(client, ctx) {
      kept.client = stored(client, ctx);
      flow.changed();
    },
    tokens: (ctx) => ofIssuer(kept.tokens, ctx?.issuer),
    saveTokens(tokens, ctx) {
      kept.tokens = stored(tokens, ctx);
      flow.changed();
    },
    redirectToAuthorization: (url) => flow.redirect(url),
    saveCodeVerifier(verifier) {
      flow.verifier = verifier;
    },
    codeVerifier: () => flow.verifier,
    saveDiscoveryState(state) {
      kept.discovery = state;
    },
    discoveryState: () => kept.discovery,
    invalidateCredentials(scope) {
      if (scope === "all" || scope === "client") delete kept.client;
      if (scope === "all" || scope === "tokens") delete kept.tokens;
      if (scope === "all" || scope === "discovery") delete kept.discovery;
      flow.changed();
    },
  };
}

interface Flow {
  state: string;
  verifier: string;
  redirect(url: URL): void;
  /** What is kept is other now. */
  changed(): void;
}

/** For connections: uses and renews tokens; a login that would need a person is refused. */
export function renewingProvider(kept: Credentials, changed: (kept: Credentials) => void) {
  const redirect = () => {
    throw new Problem(401, "authorization_needed", "Somebody has to log in to it again.");
  };
  // None is sent anywhere: a renewal needs none, and more than that is refused.
  return providerOf({ redirectUri: "http://127.0.0.1/" }, kept, {
    state: "",
    verifier: "",
    redirect,
    changed: () => changed(kept),
  });
}

/** @throws Problem 502 `authorization_failed` when the server offers no login that can be used. */
export async function beginLogin({ url, fetch, redirectUri }: OAuthServer, state: string): Promise<BegunLogin> {
  const { auth } = await import("@modelcontextprotocol/client");
  const credentials: Credentials = {};
  let authorizationUrl: URL | undefined;
  const flow: Flow = {
    ...{ state, verifier: "", changed() {} },
    redirect(to) {
      authorizationUrl = to;
    },
  };
  await safely(auth(providerOf({ redirectUri }, credentials, flow), { serverUrl: url, fetchFn: fetch }));
  if (!authorizationUrl) throw failed("it asks for no login");
  return { authorizationUrl: plainWeb(authorizationUrl), verifier: flow.verifier, credentials };
}

/** @param answer the query that the browser came back with. @throws Problem 502 `authorization_failed`. */
export async function finishLogin(
  { url, fetch, redirectUri }: OAuthServer,
  { verifier, credentials }: BegunLogin,
  answer: URLSearchParams,
): Promise<Credentials> {
  const { auth } = await import("@modelcontextprotocol/client");
  const flow: Flow = { state: "", verifier, redirect() {}, changed() {} };
  const iss = answer.get("iss");
  const code = answer.get("code");
  if (code === null)
    throw failed(`it answered ${(answer.get("error") ?? "nothing").replace(/[^\w ]/g, "").slice(0, 64)}`);
  await safely(
    auth(providerOf({ redirectUri }, credentials, flow), {
      ...{ serverUrl: url, fetchFn: fetch, authorizationCode: code },
      ...(iss === null ? {} : { iss }),
    }),
  );
  if (!credentials.tokens) throw failed("it gave no tokens");
  return credentials;
}

/** What is shown to a person to be opened: a page, never a program. @throws Problem 502. */
function plainWeb(url: URL): string {
  const isPlain = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
  if (!isPlain || url.username || url.password) throw failed("the address of its login is no https address");
  return url.href;
}

const failed = (why: string) =>
  new Problem(502, "authorization_failed", `The tool server's login cannot be used: ${why}.`);

async function safely(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (isProblem(error)) throw error;
    throw failed(messageOf(error).replace(/\s+/g, " ").slice(0, 300));
  }
}
