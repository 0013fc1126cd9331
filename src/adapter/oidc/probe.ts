/**
 * Tests a sign-on provider with the settings that an administrator entered, as far as possible without a person. The
 * provider's answers are never shown, only their meaning.
 */

import * as client from "openid-client";
import { isLoopback } from "../../core/config.ts";
import { isObject, membersOf } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";
import { readBeginning } from "../../core/read-bounded.ts";
import type { OidcFinding, OidcSettings, ProbeRequest } from "../oidc.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { isWebAddress, toStrings } from "./metadata.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 512 * 1024;
const SIGNING = ["RSA", "EC", "OKP"];

const pass = (check: string, detail: string): OidcFinding => ({ check, verdict: "ok", detail, remedy: null });
const createFinding =
  (verdict: OidcFinding["verdict"]) =>
  (check: string, detail: string, remedy: string): OidcFinding => ({ check, verdict, detail, remedy });
const [warn, fail] = [createFinding("warn"), createFinding("fail")];

/** @returns findings in the order of a sign-on, up to the first one that makes further tests pointless. */
export async function probeOidc(settings: OidcSettings, request: ProbeRequest): Promise<OidcFinding[]> {
  const found = await discover(settings);
  if ("verdict" in found) return [found];
  const metadata = found.serverMetadata();
  const lacks = ["authorization_endpoint", "token_endpoint"].find((name) => !isWebAddress(metadata[name]));
  if (lacks !== undefined)
    return [
      fail(
        "discovery",
        `Its discovery document names no ${lacks} that could be used.`,
        "Check the issuer: this is not, or not only, a provider for signing on.",
      ),
    ];
  return [
    pass("discovery", `${metadata.issuer} describes itself.`),
    ...(await Promise.all([
      keysOf(metadata),
      redirectOf(found, request),
      secretOf(metadata, settings, request),
      scopesOf(metadata, request),
    ])),
  ];
}

async function discover({ issuer, clientId }: OidcSettings): Promise<client.Configuration | OidcFinding> {
  const url = new URL(issuer);
  const plain = url.protocol === "http:" && isLoopback(url.hostname);
  try {
    return await client.discovery(url, clientId, undefined, client.None(), {
      timeout: TIMEOUT_MS / 1_000,
      execute: plain ? [client.allowInsecureRequests] : [],
      [client.customFetch]: boundedFetch,
    });
  } catch (error) {
    const { code, cause } = membersOf(error);
    if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED")
      return fail(
        "discovery",
        "The discovery document names another issuer.",
        "Use the issuer exactly as the provider's own page says it, a slash at its end included.",
      );
    if (
      code === "OAUTH_RESPONSE_IS_NOT_CONFORM" ||
      code === "OAUTH_PARSE_ERROR" ||
      membersOf(cause)["status"] !== undefined
    )
      return fail(
        "discovery",
        `There is no discovery document at ${wellKnown(url)}.`,
        "Check the issuer: for many providers it holds a realm, a tenant or a path.",
      );
    return fail(
      "discovery",
      `${url.host} does not answer.`,
      "Check the address, and that this server may reach it: name, port, certificate, firewall.",
    );
  }
}

const wellKnown = ({ origin, pathname }: URL): string =>
  `${origin}${pathname.replace(/\/$/, "")}/.well-known/openid-configuration`;

/**
 * Sends a request that follows no redirects and is bounded in time and size. @returns undefined when there was no
 * usable answer.
 */
async function ask(address: string | undefined, init: RequestInit = {}) {
  if (!address || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) return undefined;
  try {
    const answer = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { bytes } = await readBeginning(answer.body, MAX_BYTES);
    return { status: answer.status, location: answer.headers.get("location"), text: bytes.toString() };
  } catch {
    return undefined;
  }
}

async function keysOf({ jwks_uri }: client.ServerMetadata): Promise<OidcFinding> {
  const answer = await ask(jwks_uri);
  const { keys } = readMembers(answer?.text ?? "");
  const usable = (Array.isArray(keys) ? keys : []).filter(
    (key: unknown) => isObject(key) && SIGNING.includes(String(key["kty"])) && key["use"] !== "enc",
  );
  if (usable.length > 0) return pass("keys", `It has ${usable.length} keys that sign log-ins.`);
  return fail(
    "keys",
    "Its keys cannot be read, so no log-in could be checked.",
    "Check that this server may reach the provider's jwks_uri, and that the provider signs with RSA or EC keys.",
  );
}

async function redirectOf(configuration: client.Configuration, request: ProbeRequest): Promise<OidcFinding> {
  const { redirectUri, scopes } = request;
  if (redirectUri === null)
    return fail(
      "redirect",
      "This server does not know its own address.",
      "Start it with PUBLIC_URL, such as https://skep.example.org.",
    );
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: scopes.join(" "),
    response_type: "code",
    state: client.randomState(),
    nonce: client.randomNonce(),
    code_challenge_method: "S256",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
  });
  const answer = await ask(url.href);
  if (!answer)
    return fail("redirect", "Its log-in page does not answer.", "Check that browsers and this server may reach it.");
  // If the provider redirects back at once with an error, it knows the redirect address and refuses something else.
  const back =
    answer.location && URL.canParse(answer.location, url.href) ? new URL(answer.location, url.href) : undefined;
  const error = back?.href.startsWith(redirectUri) ? back.searchParams.get("error") : null;
  if (error === "invalid_scope")
    return fail("redirect", "It does not give one of the scopes.", `Allow ${scopes.join(", ")} for this client.`);
  if (answer.status < 400 && error !== "unauthorized_client")
    return pass("redirect", "It shows its log-in page for this client and this address.");
  return fail(
    "redirect",
    "It refuses this client id or this redirect address.",
    `Check the client id, and register exactly ${redirectUri} at the provider.`,
  );
}

/** Sends an invalid code. The provider then refuses the code if it accepts the client, and otherwise the client. */
async function secretOf(
  metadata: client.ServerMetadata,
  { clientId, clientSecret }: OidcSettings,
  { redirectUri }: ProbeRequest,
): Promise<OidcFinding> {
  const methods = toStrings(metadata.token_endpoint_auth_methods_supported) ?? ["client_secret_basic"];
  const basic = Boolean(clientSecret) && methods.includes("client_secret_basic");
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: "connection-test",
    code_verifier: client.randomPKCECodeVerifier(),
    ...(redirectUri === null ? {} : { redirect_uri: redirectUri }),
    ...(basic ? {} : { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) }),
  });
  const pair = [clientId, clientSecret ?? ""].map((part) => encodeURIComponent(part).replaceAll("%20", "+")).join(":");
  const headers: Record<string, string> = basic ? { Authorization: `Basic ${btoa(pair)}` } : {};
  const answer = await ask(metadata.token_endpoint, { method: "POST", body, headers });
  const { error } = readMembers(answer?.text ?? "");
  if (error === "invalid_grant") return pass("secret", "It accepts the client id and secret.");
  if (error === "invalid_client" || error === "unauthorized_client" || answer?.status === 401)
    return fail(
      "secret",
      clientSecret ? "It refuses the client id or secret." : "It refuses this client without a secret.",
      "Copy the client's secret from the provider again; it may have expired.",
    );
  return warn(
    "secret",
    "Whether the client's secret is right cannot be said: the provider answers in its own way.",
    "Sign on once in a private window before you rely on it.",
  );
}

async function scopesOf(metadata: client.ServerMetadata, { scopes }: ProbeRequest): Promise<OidcFinding> {
  const known = toStrings(metadata.scopes_supported);
  const missing = known ? scopes.filter((scope) => !known.includes(scope)) : [];
  if (missing.length === 0) return pass("scopes", "It knows the scopes that are asked for.");
  return warn(
    "scopes",
    `It does not list ${missing.length === 1 ? "the scope" : "the scopes"} ${missing.join(", ")}.`,
    "Without an e-mail address nobody can be linked to an account at their first sign-on.",
  );
}
