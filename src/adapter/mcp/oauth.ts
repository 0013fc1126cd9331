/**
 * Login to tool servers by OAuth 2.1, through the protocol library. The library handles metadata, registration and
 * PKCE, and checks the issuer of answers and of stored credentials. This module stores what the library needs, and
 * never opens an address itself.
 */
import type * as Library from "@modelcontextprotocol/client";
import { isLoopback } from "../../core/config.ts";
import { isProblem, messageOf, Problem } from "../../core/errors.ts";
import type { HttpFetch } from "./http-fetch.ts";

/** Everything stored about a server's authorization server; encrypted at rest. */
export interface Credentials {
  client?: Library.StoredOAuthClientInformation;
  tokens?: Library.StoredOAuthTokens;
  discovery?: Library.OAuthDiscoveryState;
  /** The scope of the last login and what the server has wanted since. The next login asks for all of it. */
  scope?: string;
}

/** A client that was registered by hand at one authorization server, `issuer`. */
export interface GivenClient {
  client_id: string;
  client_secret?: string;
  issuer: string;
}

export interface OAuthServer {
  /** The tool server's address. */
  url: string;
  fetch: HttpFetch;
  /** Address that browsers return to after the login. */
  redirectUri: string;
  /**
   * Address of the metadata document about this client. It serves as the client id at authorization servers that accept
   * such ids.
   */
  clientMetadataUrl?: string;
  given?: GivenClient | undefined;
}

/** The client's metadata, for a registration or for the document that its id points to. */
export const clientMetadata = (redirectUri: string) => ({
  client_name: "Skep",
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** A login that waits until the browser returns. */
export interface StartedLogin {
  authorizationUrl: string;
  verifier: string;
  credentials: Credentials;
}

/** Makes the library's provider over stored credentials. */
function providerOf(
  server: Pick<OAuthServer, "redirectUri" | "clientMetadataUrl" | "given">,
  kept: Credentials,
  flow: Flow,
): Library.OAuthClientProvider {
  const ofIssuer = <T extends { issuer?: string }>(value: T | undefined, issuer: string | undefined) =>
    value !== undefined && (issuer === undefined || value.issuer === undefined || value.issuer === issuer)
      ? value
      : undefined;
  const addIssuer = <T>(value: T, ctx?: Library.OAuthClientInformationContext): T =>
    ctx === undefined ? value : { ...value, issuer: ctx.issuer };
  return {
    redirectUrl: server.redirectUri,
    clientMetadata: clientMetadata(server.redirectUri),
    ...(server.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: server.clientMetadataUrl }),
    state: () => flow.state,
    clientInformation: (ctx) =>
      server.given ? givenFor(server.given, ctx?.issuer) : ofIssuer(kept.client, ctx?.issuer),
    saveClientInformation(client, ctx) {
      kept.client = addIssuer(client, ctx);
      flow.onChange();
    },
    tokens: (ctx) => ofIssuer(kept.tokens, ctx?.issuer),
    saveTokens(tokens, ctx) {
      kept.tokens = addIssuer(tokens, ctx);
      flow.onChange();
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
      flow.onChange();
    },
  };
}

/**
 * The given client for an issuer. @throws Problem 502 when the tool server names another authorization server, which
 * must not get the client's secret.
 */
function givenFor(given: GivenClient, issuer: string | undefined): Library.StoredOAuthClientInformation {
  const trimSlash = (text: string) => text.replace(/\/$/, "");
  if (issuer !== undefined && trimSlash(issuer) !== trimSlash(given.issuer))
    throw createLoginProblem(
      `it names the authorization server ${issuer}, and its client id belongs to ${given.issuer}`,
    );
  return { ...given, issuer: issuer ?? given.issuer };
}

interface Flow {
  state: string;
  verifier: string;
  redirect(url: URL): void;
  /** Called when the stored credentials have changed. */
  onChange(): void;
}

/** A provider for connections: uses and renews tokens. It refuses when a person would have to log in. */
export function renewingProvider(kept: Credentials, onChange: (kept: Credentials) => void, given?: GivenClient) {
  const redirect = () => {
    throw new Problem(401, "authorization_needed", "Somebody has to log in to it again.");
  };
  // The redirect address is never used, because a renewal needs none and a login is refused.
  return providerOf({ redirectUri: "http://127.0.0.1/", given }, kept, {
    state: "",
    verifier: "",
    redirect,
    onChange: () => onChange(kept),
  });
}

/**
 * Begins a login.
 * @param scope that an earlier login asked for or lacked; the server may want more.
 * @throws Problem 502 `authorization_failed` when the server offers no usable login.
 */
export async function beginLogin(server: OAuthServer, state: string, scope?: string): Promise<StartedLogin> {
  const library = await import("@modelcontextprotocol/client");
  const credentials: Credentials = {};
  let authorizationUrl: URL | undefined;
  const flow: Flow = {
    state,
    verifier: "",
    onChange() {},
    redirect(to) {
      authorizationUrl = to;
    },
  };
  const { url, fetch } = server;
  const challenge = await challengeOf(library, server);
  const wanted = library.computeScopeUnion(challenge.scope, scope);
  const options = {
    serverUrl: url,
    fetchFn: fetch,
    ...(challenge.resourceMetadataUrl ? { resourceMetadataUrl: challenge.resourceMetadataUrl } : {}),
    ...(wanted === undefined ? {} : { scope: wanted }),
  };
  await translateErrors(library.auth(providerOf(server, credentials, flow), options));
  if (wanted !== undefined) credentials.scope = wanted;
  if (!authorizationUrl) throw createLoginProblem("it asks for no login");
  return { authorizationUrl: plainWeb(authorizationUrl), verifier: flow.verifier, credentials };
}

/** Sends a request without a token. The server's refusal tells where its metadata is, and which scope it wants. */
async function challengeOf(library: typeof Library, { url, fetch }: OAuthServer) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  }).catch((error: unknown) => {
    throw isProblem(error) ? error : createLoginProblem(messageOf(error).slice(0, SHOWN_CHARACTERS));
  });
  await response.body?.cancel().catch(() => {});
  return response.status === 401 ? library.extractWWWAuthenticateParams(response) : {};
}
const SHOWN_CHARACTERS = 300;

/**
 * Finishes a login. @param answer the query that the browser returned with. @throws Problem 502 `authorization_failed`.
 */
export async function finishLogin(
  server: OAuthServer,
  { verifier, credentials }: StartedLogin,
  answer: URLSearchParams,
): Promise<Credentials> {
  const { auth } = await import("@modelcontextprotocol/client");
  const flow: Flow = { state: "", verifier, redirect() {}, onChange() {} };
  const iss = answer.get("iss");
  const code = answer.get("code");
  if (code === null)
    throw createLoginProblem(`it answered ${(answer.get("error") ?? "nothing").replace(/[^\w ]/g, "").slice(0, 64)}`);
  await translateErrors(
    auth(providerOf(server, credentials, flow), {
      serverUrl: server.url,
      fetchFn: server.fetch,
      authorizationCode: code,
      ...(iss === null ? {} : { iss }),
    }),
  );
  if (!credentials.tokens) throw createLoginProblem("it gave no tokens");
  return credentials;
}

/**
 * Checks an address that a person is asked to open: it must be a web page, never a program's address. @throws Problem
 * 502.
 */
function plainWeb(url: URL): string {
  const isPlain = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
  if (!isPlain || url.username || url.password)
    throw createLoginProblem("the address of its login is not an https address");
  return url.href;
}

const createLoginProblem = (why: string) =>
  new Problem(502, "authorization_failed", `The tool server's login cannot be used: ${why}.`);

async function translateErrors(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (isProblem(error)) throw error;
    throw createLoginProblem(messageOf(error).replace(/\s+/g, " ").slice(0, SHOWN_CHARACTERS));
  }
}
