/** A16: a hostile identity provider, a hostile page, a hostile network. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, elsewhere, logIn, setupAdmin } from "../accounts.ts";
import { CLIENT, type HostileProvider, type Lies, startHostileProvider } from "../identity-provider.ts";
import { startServer, type TestServer } from "../server.ts";

let server: TestServer;
let admin: Account;
let hostile: HostileProvider;
let other: HostileProvider;
const add = (slug: string, issuer: string) =>
  server.request("POST", "/v1/auth/oidc", {
    token: admin.token,
    body: { slug, name: slug, issuer, ...CLIENT, auto_create: true, allowed_domains: ["example.test"] },
  });

beforeAll(async () => {
  // Each request comes from a different address, so that rate limits do not matter.
  server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1" } });
  admin = await setupAdmin(server, "boss@example.test");
  hostile = startHostileProvider();
  other = startHostileProvider();
  expect((await add("hostile", hostile.issuer)).status).toBe(201);
  expect((await add("other", other.issuer)).status).toBe(201);
});
afterAll(async () => {
  await hostile.stop();
  await other.stop();
  await server.remove();
});

async function begin(slug = "hostile", query = "") {
  const headers = { Accept: "application/json", ...elsewhere() };
  const { body, headers: got } = await server.request("GET", `/v1/auth/oidc/${slug}/authorize${query}`, { headers });
  return { url: body["authorization_url"] as string, cookie: (got.get("set-cookie") ?? "").split(";")[0]! };
}
const arrive = (answer: URLSearchParams, cookie: string, slug = "hostile") =>
  server.request("POST", `/v1/auth/oidc/${slug}/callback`, {
    body: Object.fromEntries(answer),
    headers: { ...elsewhere(), ...(cookie ? { Cookie: cookie } : {}) },
  });
async function tell(lies: Lies) {
  hostile.lies = lies;
  const { url, cookie } = await begin();
  const answer = await arrive(hostile.authorize(url), cookie);
  hostile.lies = {};
  return answer;
}

describe("the answer", () => {
  test("an honest one is accepted: the tests below fail for their own reason", async () => {
    expect((await tell({})).status).toBe(200);
  });

  test("of a flow that another browser began is refused, and so is one without a cookie", async () => {
    const mine = await begin();
    const theirs = await begin();
    expect((await arrive(hostile.authorize(mine.url), theirs.cookie)).status).toBe(400);
    const again = await begin();
    expect((await arrive(hostile.authorize(again.url), "")).status).toBe(400);
  });

  test("is taken once: a replayed state is refused, also after a failure", async () => {
    const { url, cookie } = await begin();
    const answer = hostile.authorize(url);
    expect((await arrive(answer, cookie)).status).toBe(200);
    expect((await arrive(answer, cookie)).status).toBe(400);
    const failed = await begin();
    const wrong = hostile.authorize(failed.url);
    wrong.set("iss", "https://elsewhere.example.test");
    expect((await arrive(wrong, failed.cookie)).status).toBe(401);
    wrong.set("iss", hostile.issuer);
    expect((await arrive(wrong, failed.cookie)).status).toBe(400);
  });

  test("of one provider at another's callback is refused, and no code is sent to either", async () => {
    const { url, cookie } = await begin("other");
    hostile.asked.length = 0;
    other.asked.length = 0;
    expect((await arrive(other.authorize(url), cookie, "hostile")).status).toBe(400);
    expect([hostile.asked.length, other.asked.length]).toEqual([0, 0]);
  });

  test("with another issuer's name, or with none, is refused (RFC 9207)", async () => {
    for (const iss of [other.issuer, null]) {
      const { url, cookie } = await begin();
      const answer = hostile.authorize(url);
      if (iss) answer.set("iss", iss);
      else answer.delete("iss");
      expect((await arrive(answer, cookie)).status).toBe(401);
    }
  });

  test("is fetched with a PKCE verifier that fits the S256 challenge, and the client's secret in the header", async () => {
    const { url, cookie } = await begin();
    const asked = new URL(url).searchParams;
    expect([asked.get("code_challenge_method"), asked.get("response_type")]).toEqual(["S256", "code"]);
    hostile.asked.length = 0;
    await arrive(hostile.authorize(url), cookie);
    const { form, authorization } = hostile.asked[0]!;
    const digest = new Bun.CryptoHasher("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    expect(digest).toBe(asked.get("code_challenge")!);
    expect(authorization).toStartWith("Basic ");
    expect(form.get("redirect_uri")).toBe(`${server.url}/v1/auth/oidc/hostile/callback`);
  });
});

describe("the ID token", () => {
  const now = Math.floor(Date.now() / 1_000);
  test.each<[string, Lies]>([
    ["with another nonce", { claims: { nonce: "another" } }],
    ["without a nonce", { claims: { nonce: undefined } }],
    ["of another issuer", { claims: { iss: "https://elsewhere.example.test" } }],
    ["for another audience", { claims: { aud: "another-client" } }],
    ["for another party (azp)", { claims: { azp: "another-client" } }],
    ["for two audiences without azp", { claims: { aud: [CLIENT.client_id, "another-client"] } }],
    ["that is over", { claims: { exp: now - 600, iat: now - 900 } }],
    ["without an end", { claims: { exp: undefined } }],
    ["without a subject", { claims: { sub: undefined } }],
    ["without a signature", { unsigned: true }],
    ["with alg none in a signed header", { header: { alg: "none" } }],
    ["with an algorithm of shared secrets", { header: { alg: "HS256" } }],
    ["signed by a foreign key", { foreignKey: true }],
  ])("%s is refused", async (_, lies) => {
    const answer = await tell(lies);
    expect([answer.status, answer.body["code"]]).toEqual([401, "sign_on_refused"]);
  });

  test.each<[string, unknown]>([
    ["false", false],
    ["missing", undefined],
    ["the text true", "true"],
    ["1", 1],
  ])("cannot link to an account by an address that is not verified: %s", async (_, email_verified) => {
    const answer = await tell({ claims: { sub: "thief", email: admin.email, email_verified } });
    expect([answer.status, answer.body["code"]]).toEqual([403, "email_not_verified"]);
  });

  test.each(["\uff42oss@example.test", "boss@e\uff58ample.test", " boss@example.test", "bo\u017f\u017f@example.test"])(
    "cannot link to an account by an address that only looks like its own: %p",
    async (email) => {
      const answer = await tell({ claims: { sub: `like-${email}`, email } });
      expect([answer.status, answer.body["code"]]).toEqual([403, "email_not_verified"]);
    },
  );

  test.each(["someone@example.test.evil.test", "someone@evil.test", "x@sub.example.test", "a@evil.test@example.test "])(
    "makes no account for %s",
    async (email) => {
      const answer = await tell({ claims: { sub: `for-${email}`, email } });
      expect(answer.status).toBe(403);
      const users = await server.request("GET", "/v1/users", { token: admin.token });
      expect(JSON.stringify(users.body)).not.toContain('evil.test"');
    },
  );

  test("a discovery document that names another issuer is not believed", async () => {
    const liar = startHostileProvider();
    liar.lies = { issuer: hostile.issuer };
    try {
      await add("liar", liar.issuer);
      const answer = await server.request("GET", "/v1/auth/oidc/liar/authorize", { headers: elsewhere() });
      expect([answer.status, answer.body["code"]]).toEqual([503, "identity_provider_unreachable"]);
    } finally {
      await liar.stop();
    }
  });
});

describe("a provider that becomes another one half-way (mix-up)", () => {
  const issuersOf = async () => {
    const { body } = await server.request("GET", "/v1/admin/users?limit=200", { token: admin.token });
    return (body["items"] as { email: string; providers: string[] }[]).flatMap(({ providers }) => providers);
  };
  /** A new provider about which the server knows nothing yet. */
  async function fresh(slug: string) {
    const provider = startHostileProvider();
    expect((await add(slug, provider.issuer)).status).toBe(201);
    return provider;
  }
  const otherEndpoints = () => ({
    authorization_endpoint: `${other.issuer}/authorize`,
    token_endpoint: `${other.issuer}/token`,
    jwks_uri: `${other.issuer}/keys`,
  });

  test("with another's endpoints in its own name: the other's code and token open nothing", async () => {
    const provider = await fresh("borrowing");
    try {
      provider.lies = { discovery: otherEndpoints() };
      const { url, cookie } = await begin("borrowing");
      expect(url).toStartWith(other.issuer);
      // The browser returns from the honest provider, which names itself; then with that name hidden or replaced.
      for (const iss of [other.issuer, provider.issuer, null]) {
        const flow = iss === other.issuer ? { url, cookie } : await begin("borrowing");
        const answer = other.authorize(flow.url);
        if (iss) answer.set("iss", iss);
        else answer.delete("iss");
        expect([iss, (await arrive(answer, flow.cookie, "borrowing")).status]).toEqual([iss, 401]);
      }
      expect(await issuersOf()).not.toContain(provider.issuer);
    } finally {
      await provider.stop();
    }
  });

  test("with another's name and endpoints after the browser has left: its answer is nobody at the other", async () => {
    const provider = await fresh("turning");
    try {
      const { url, cookie } = await begin("turning");
      const before = (await issuersOf()).filter((issuer) => issuer === other.issuer).length;
      provider.lies = {
        issuer: other.issuer,
        discovery: otherEndpoints(),
        claims: { iss: other.issuer, sub: "boss", email: "boss@example.test" },
      };
      const answer = provider.authorize(url);
      for (const iss of [provider.issuer, other.issuer]) {
        answer.set("iss", iss);
        expect((await arrive(answer, cookie, "turning")).status).toBeOneOf([400, 401, 503]);
      }
      expect((await issuersOf()).filter((issuer) => issuer === other.issuer).length).toBe(before);
    } finally {
      await provider.stop();
    }
  });

  test.each([
    ["switched off", { enabled: false }],
    ["given another issuer", { issuer: "https://elsewhere.example.test" }],
    ["removed", null],
  ] as const)("%s while its token is fetched: nobody is let in", async (how, change) => {
    const slug = how.replaceAll(" ", "-");
    const provider = await fresh(slug);
    try {
      const gate = Promise.withResolvers<void>();
      provider.lies = { hold: gate.promise, claims: { sub: slug, email: `${slug}@example.test` } };
      const { url, cookie } = await begin(slug);
      const arriving = arrive(provider.authorize(url), cookie, slug);
      while (provider.asked.length === 0) await Bun.sleep(10);
      const path = `/v1/auth/oidc/${slug}`;
      const changed = change
        ? await server.request("PUT", path, { token: admin.token, body: change })
        : await server.request("DELETE", path, { token: admin.token });
      expect(changed.status).toBeLessThan(300);
      gate.resolve();
      expect((await arriving).status).toBeOneOf([400, 404]);
      expect(await issuersOf()).not.toContain(provider.issuer);
    } finally {
      await provider.stop();
    }
  });
});

describe("around it", () => {
  test("a subject of one issuer is nobody at another", async () => {
    const first = await tell({ claims: { sub: "same", email: "first@example.test" } });
    other.lies = { claims: { sub: "same", email: "second@example.test" } };
    const { url, cookie } = await begin("other");
    const second = await arrive(other.authorize(url), cookie, "other");
    const idOf = (answer: { body: Record<string, unknown> }) => (answer.body["user"] as { id: string }).id;
    expect(idOf(second)).not.toBe(idOf(first));
  });

  test("a person is held by subject: a new address changes nothing, and takes nobody's account", async () => {
    const first = await tell({ claims: { sub: "mover", email: "mover@example.test" } });
    const later = await tell({ claims: { sub: "mover", email: admin.email } });
    expect((later.body["user"] as { email: string }).email).toBe("mover@example.test");
    expect(first.status).toBe(200);
  });

  test("is in the audit: providers that came, changed and went, who was linked, and what was refused", async () => {
    const { body } = await server.request<{ items: { action: string; data: object }[] }>(
      "GET" as const,
      "/v1/admin/audit?limit=200" as const,
      { token: admin.token },
    );
    const actions = new Set(body.items.map(({ action }) => action));
    for (const action of ["created", "updated", "deleted"])
      expect([action, actions.has(`oidc_provider.${action}`)]).toEqual([action, true]);
    for (const action of ["identity.linked", "sign_on.failed"])
      expect([action, actions.has(action)]).toEqual([action, true]);
    expect(JSON.stringify(body)).not.toContain(CLIENT.client_secret);
  });

  test("a forged Host does not become the redirect address", async () => {
    const headers = { Accept: "application/json", Host: "evil.test" };
    const answer = await server.request("GET", "/v1/auth/oidc/hostile/authorize", { headers });
    expect(answer.status).toBe(421);
    const open = await startServer({ env: { HOST: "0.0.0.0", ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" } });
    try {
      const body = { slug: "hostile", name: "h", issuer: hostile.issuer, ...CLIENT };
      await open.request("POST", "/v1/auth/oidc", { token: "engine-token-engine-token", body });
      const started = await open.request("GET", "/v1/auth/oidc/hostile/authorize", { headers });
      expect([started.status, started.body["code"]]).toEqual([503, "public_url_needed"]);
    } finally {
      await open.remove();
    }
  });

  test.each([
    "https://evil.test/",
    "//evil.test",
    "/\\evil.test",
    "/%0d%0aSet-Cookie:x=1",
    "javascript:alert(1)",
    "\\\\evil.test",
  ])("return_to=%s ends on this site", async (wanted) => {
    const started = await begin("hostile", `?return_to=${encodeURIComponent(wanted)}`);
    const query = hostile.authorize(started.url);
    const back = await server.request("GET", `/v1/auth/oidc/hostile/callback?${query}`, {
      headers: { Cookie: started.cookie },
    });
    expect(back.status).toBe(303);
    expect(new URL(back.headers.get("location")!, server.url).origin).toBe(server.url);
    expect(back.headers.getSetCookie().length).toBe(2);
  });

  test("an account that was switched off does not sign on, and a linked one cannot log in by an empty password", async () => {
    const made = await tell({ claims: { sub: "off", email: "off@example.test" } });
    const { id } = made.body["user"] as { id: string };
    for (const password of ["", " ", "null"])
      await expect(logIn(server, "off@example.test", password)).rejects.toThrow(/login answered 4(01|22)/);
    await server.request("PUT", `/v1/users/${id}`, { token: admin.token, body: { active: false } });
    expect((await tell({ claims: { sub: "off", email: "off@example.test" } })).status).toBe(401);
    const me = await server.request("GET", "/v1/auth/me", { token: made.body["access_token"] as string });
    expect(me.status).toBe(401);
  });

  test("the provider's text does not reach the page as markup", async () => {
    const started = await begin();
    const state = new URL(started.url).searchParams.get("state")!;
    const query = new URLSearchParams({ state, error: "<script>alert(1)</script>", iss: hostile.issuer });
    const headers = { Cookie: started.cookie, Accept: "text/html", ...elsewhere() };
    const page = await server.request<string>("GET", `/v1/auth/oidc/hostile/callback?${query}`, { headers });
    expect([page.status, page.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
    expect(page.body).not.toContain("<script");
  });
});
