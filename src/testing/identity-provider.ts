/**
 * Identity providers for tests: a real one (oidc-provider, with its own log-in page), and a hostile one that signs
 * anything.
 */
import { createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export interface Person {
  email: string;
  email_verified: boolean;
  groups?: string[];
}

export interface IdentityProvider {
  issuer: string;
  stop(): Promise<void>;
}

export const CLIENT = { client_id: "skep", client_secret: "a-client-secret-of-forty-characters-or-so" };

/**
 * Starts a conforming provider. @param people users by the log-in name typed into its page.
 * @param host with `localhost`, browsers treat it as another site than a server at 127.0.0.1.
 */
export async function startIdentityProvider(
  redirectUris: string[],
  people: Record<string, Person>,
  logoutUris: string[] = [],
  host: "127.0.0.1" | "localhost" = "127.0.0.1",
): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: redirectUris, post_logout_redirect_uris: logoutUris }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ["test"] },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  });
  server.on("request", provider.callback());
  return {
    issuer,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What the hostile provider answers. Each member replaces an honest answer. */
export interface Lies {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Whether it signs with a key that is not in its key set. */
  foreignKey?: boolean;
  /** The `issuer` in its discovery document. */
  issuer?: string;
  unsigned?: boolean;
  /** Members of its discovery document, e.g. another provider's endpoints. */
  discovery?: Record<string, unknown>;
  /** Its token endpoint answers only after this promise. */
  hold?: Promise<void>;
}

export interface HostileProvider extends IdentityProvider {
  /** Tests replace this before each answer. */
  lies: Lies;
  /** Requests to its token endpoint: credentials and form fields. */
  asked: { authorization: string | null; form: URLSearchParams }[];
  /** Reads nonce and client of a flow from the authorization address. @returns the parameters for the callback. */
  authorize(url: string): URLSearchParams;
}

export function startHostileProvider(): HostileProvider {
  const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const flows = new Map<string, { nonce: string; client: string }>();
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answer(request) });
  const issuer = `http://127.0.0.1:${server.port}`;
  const self: HostileProvider = {
    issuer,
    lies: {},
    asked: [],
    authorize(url) {
      const query = new URL(url).searchParams;
      const code = randomUUID();
      flows.set(code, { nonce: query.get("nonce") ?? "", client: query.get("client_id") ?? "" });
      return new URLSearchParams({ code, state: query.get("state") ?? "", iss: issuer });
    },
    stop: () => server.stop(true),
  };
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
  function idToken({ nonce, client }: { nonce: string; client: string }): string {
    const { claims, header, foreignKey, unsigned } = self.lies;
    const now = Math.floor(Date.now() / 1_000);
    const honest = { iss: issuer, sub: "someone", aud: client, iat: now, exp: now + 300, nonce };
    const said = { ...honest, email: "someone@example.test", email_verified: true, ...claims };
    const kept = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    const input = `${encode({ alg: unsigned ? "none" : "RS256", kid: "one", ...header })}.${encode(kept)}`;
    if (unsigned) return `${input}.`;
    const key = (foreignKey ? foreign : own).privateKey;
    return `${input}.${createSign("RSA-SHA256").update(input).sign(key, "base64url")}`;
  }
  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/.well-known/openid-configuration")
      return Response.json({
        issuer: self.lies.issuer ?? issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        authorization_response_iss_parameter_supported: true,
        ...self.lies.discovery,
      });
    if (pathname === "/keys")
      return Response.json({
        keys: [{ ...own.publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" }],
      });
    if (pathname === "/token") {
      const form = new URLSearchParams(await request.text());
      self.asked.push({ authorization: request.headers.get("authorization"), form });
      await self.lies.hold;
      const flow = flows.get(form.get("code") ?? "") ?? { nonce: "none", client: CLIENT.client_id };
      return Response.json({ access_token: "at", token_type: "Bearer", expires_in: 300, id_token: idToken(flow) });
    }
    return new Response("nothing here", { status: 404 });
  }
  return self;
}
