/**
 * The client side of OpenID Connect, through openid-client: discovery, authorization code with PKCE, and the address
 * for logging out. The ID token is checked strictly (issuer, audience, azp, nonce, times, signature), and so is the
 * answer's issuer (RFC 9207).
 */

import { createHash } from "node:crypto";
import * as client from "openid-client";
import { HOUR_MS } from "../../core/clock.ts";
import { isLoopback } from "../../core/config.ts";
import { messageOf, Problem, unauthorized, unavailable } from "../../core/errors.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import type { OidcClient, OidcPerson, OidcSettings } from "../oidc.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { isWebAddress, toStrings } from "./metadata.ts";

const TIMEOUT_SECONDS = 10;
const DISCOVERY_KEPT_MS = HOUR_MS;

/** @param log receives the reason why a sign-on failed; the browser only shows that it failed. */
export function openOidcClient(log: (why: string, detail: Record<string, unknown>) => void): Omit<OidcClient, "probe"> {
  const kept = new Map<string, { until: number; configuration: Promise<client.Configuration> }>();

  function configurationOf(settings: OidcSettings): Promise<client.Configuration> {
    const key = createHash("sha256").update(JSON.stringify(settings)).digest("base64url");
    const known = kept.get(key);
    if (known && known.until > performance.now()) return known.configuration;
    const configuration = discover(settings);
    if (kept.size > 100) kept.clear();
    kept.set(key, { until: performance.now() + DISCOVERY_KEPT_MS, configuration });
    configuration.catch(() => kept.delete(key));
    return configuration;
  }
  async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
    const url = new URL(issuer);
    const plain = url.protocol === "http:" && isLoopback(url.hostname);
    try {
      const execute = [client.enableNonRepudiationChecks, ...(plain ? [client.allowInsecureRequests] : [])];
      const found = await client.discovery(url, clientId, undefined, client.None(), {
        timeout: TIMEOUT_SECONDS,
        execute,
        [client.customFetch]: boundedFetch,
      });
      const metadata = found.serverMetadata();
      if (!isWebAddress(metadata.authorization_endpoint) || !isWebAddress(metadata.token_endpoint))
        throw new Error("no endpoints to sign on at");
      if (!clientSecret) return found;
      const methods = toStrings(metadata.token_endpoint_auth_methods_supported) ?? ["client_secret_basic"];
      const auth = methods.includes("client_secret_basic") ? client.ClientSecretBasic : client.ClientSecretPost;
      const configuration = new client.Configuration(metadata, clientId, undefined, auth(clientSecret));
      configuration.timeout = TIMEOUT_SECONDS;
      configuration[client.customFetch] = boundedFetch;
      for (const step of execute) step(configuration);
      return configuration;
    } catch (error) {
      log("discovery failed", { issuer, why: reasonOf(error) });
      throw unavailable(
        "identity_provider_unreachable",
        "The identity provider does not answer as it should. Try again later.",
      );
    }
  }

  return {
    async authorizationUrl(settings, { redirectUri, scopes, state, nonce, verifier }) {
      const configuration = await configurationOf(settings);
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes.join(" "),
        response_type: "code",
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return url.href;
    },
    async exchange(settings, { redirectUri, parameters, state, nonce, verifier }) {
      const configuration = await configurationOf(settings);
      try {
        const address = new URL(redirectUri);
        address.search = parameters.toString();
        const tokens = await client.authorizationCodeGrant(configuration, address, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const idClaims = tokens.claims();
        if (!idClaims || !tokens.id_token) throw new Error("no ID token");
        if (idClaims["azp"] !== undefined && idClaims["azp"] !== settings.clientId)
          throw new Error("azp names another client");
        const more =
          idClaims["email"] === undefined ? await userInfo(configuration, tokens.access_token, idClaims.sub) : {};
        return personOf({ ...more, ...idClaims }, tokens.id_token);
      } catch (error) {
        if (error instanceof Problem) throw error;
        log("sign-on refused", { issuer: settings.issuer, why: reasonOf(error) });
        throw unauthorized(
          "The identity provider's answer was not accepted. Start the log-in again.",
          "sign_on_refused",
        );
      }
    },
    async logoutUrl(settings, idToken, returnTo) {
      const configuration = await configurationOf(settings);
      if (!isWebAddress(configuration.serverMetadata().end_session_endpoint)) return undefined;
      const parameters = { id_token_hint: idToken, post_logout_redirect_uri: returnTo };
      return client.buildEndSessionUrl(configuration, parameters).href;
    },
  };
}

/** Fetches claims that the ID token lacks from the userinfo endpoint, whose subject must be the same. */
async function userInfo(configuration: client.Configuration, accessToken: string, subject: string) {
  if (!configuration.serverMetadata().userinfo_endpoint) return {};
  return client.fetchUserInfo(configuration, accessToken, subject);
}

function personOf(claims: Record<string, unknown> & { sub: string }, idToken: string): OidcPerson {
  return {
    subject: claims.sub,
    email: textIn(claims, "email"),
    // Only `true` counts, because some providers let people enter any address.
    emailVerified: claims["email_verified"] === true,
    name: textIn(claims, "name") ?? textIn(claims, "preferred_username"),
    claims,
    idToken,
  };
}

/** Describes an error by the library's codes, because its messages may contain what the provider sent. */
function reasonOf(error: unknown): string {
  const { code, name } = membersOf(error);
  return [name, code].filter((part) => typeof part === "string").join(" ") || messageOf(error).slice(0, 200);
}
