/** OpenID Connect, the client's side. Its library is loaded when somebody first signs on. */
import { lazy } from "../core/lazy.ts";

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
}

/** What the provider says of the person who signed on. */
export interface OidcPerson {
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string | undefined;
  /** All claims, for the one that tells the role. */
  claims: Readonly<Record<string, unknown>>;
  idToken: string;
}

export interface OidcClient {
  authorizationUrl(settings: OidcSettings, request: SignOn & { scopes: readonly string[] }): Promise<string>;
  /** @param parameters of the provider's answer. @throws Problem 401 `sign_on_refused`, 503. */
  exchange(settings: OidcSettings, answer: SignOn & { parameters: URLSearchParams }): Promise<OidcPerson>;
  /** Where the provider's own session ends; undefined when it names no such address. */
  logoutUrl(settings: OidcSettings, idToken: string, returnTo: string): Promise<string | undefined>;
  /** Tries what can be tried without a person. Never throws for what the provider does. */
  probe(settings: OidcSettings, request: ProbeRequest): Promise<OidcFinding[]>;
}

/** One thing that was tried with a provider. */
export interface OidcFinding {
  /** What was tried: discovery, keys, redirect, secret, scopes. */
  check: string;
  verdict: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about it. */
  remedy: string | null;
}

export interface ProbeRequest {
  /** Null while this server does not know its own address. */
  redirectUri: string | null;
  scopes: readonly string[];
}

/** What is the same on the way to the provider and back. */
interface SignOn {
  redirectUri: string;
  state: string;
  nonce: string;
  verifier: string;
}

/** @param log receives why a sign-on failed; the browser shows only that it did. */
export function createOidcClient(log: (why: string, detail: Record<string, unknown>) => void): OidcClient {
  const client = lazy(async () => (await import("./oidc/client.ts")).openOidcClient(log));
  return {
    authorizationUrl: async (...given) => (await client()).authorizationUrl(...given),
    exchange: async (...given) => (await client()).exchange(...given),
    logoutUrl: async (...given) => (await client()).logoutUrl(...given),
    probe: async (...given) => (await import("./oidc/probe.ts")).probeOidc(...given),
  };
}
