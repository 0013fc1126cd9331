/** The client side of OpenID Connect. Its library is loaded when somebody first signs on. */
import { memoize } from "../core/lazy.ts";

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
}

/** What the provider tells about the person who signed on. */
export interface OidcPerson {
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string | undefined;
  /** All claims; one of them may tell the role. */
  claims: Readonly<Record<string, unknown>>;
  idToken: string;
}

export interface OidcClient {
  authorizationUrl(settings: OidcSettings, request: SignOn & { scopes: readonly string[] }): Promise<string>;
  /** @param answer `parameters` is the query of the provider's answer. @throws Problem 401 `sign_on_refused`, 503. */
  exchange(settings: OidcSettings, answer: SignOn & { parameters: URLSearchParams }): Promise<OidcPerson>;
  /** Address that ends the provider's own session; undefined when the provider names none. */
  logoutUrl(settings: OidcSettings, idToken: string, returnTo: string): Promise<string | undefined>;
  /** Tests what can be tested without a person. Never throws, whatever the provider does. */
  probe(settings: OidcSettings, request: ProbeRequest): Promise<OidcFinding[]>;
}

/** The result of one test of a provider. */
export interface OidcFinding {
  /** Name of the test: discovery, keys, redirect, secret, scopes. */
  check: string;
  verdict: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about the result. */
  remedy: string | null;
}

export interface ProbeRequest {
  /** Null when this server does not know its own address. */
  redirectUri: string | null;
  scopes: readonly string[];
}

/** The values of a sign-on that must be the same in the request and in the answer's check. */
interface SignOn {
  redirectUri: string;
  state: string;
  nonce: string;
  verifier: string;
}

/** @param log receives why a sign-on failed; the browser shows only that it did. */
export function createOidcClient(log: (why: string, detail: Record<string, unknown>) => void): OidcClient {
  const client = memoize(async () => (await import("./oidc/client.ts")).openOidcClient(log));
  return {
    authorizationUrl: async (...given) => (await client()).authorizationUrl(...given),
    exchange: async (...given) => (await client()).exchange(...given),
    logoutUrl: async (...given) => (await client()).logoutUrl(...given),
    probe: async (...given) => (await import("./oidc/probe.ts")).probeOidc(...given),
  };
}
