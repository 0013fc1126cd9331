import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, setupAdmin } from "../../testing/accounts.ts";
import { CLIENT, type IdentityProvider, type Person, startIdentityProvider } from "../../testing/identity-provider.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import { createWebClient } from "../../testing/web-client.ts";

const PEOPLE: Record<"ada" | "bob" | "eve" | "mal", Person> = {
  ada: { email: "ada@example.test", email_verified: true, groups: ["staff", "skep-admins"] },
  bob: { email: "bob@example.test", email_verified: true, groups: ["staff"] },
  eve: { email: "eve@elsewhere.test", email_verified: true },
  mal: { email: "admin@example.test", email_verified: false },
};

describe("single sign-on with a real provider", () => {
  let server: TestServer;
  let admin: Account;
  let provider: IdentityProvider;
  beforeAll(async () => {
    server = await startServer({ env: { AUTH_ENABLED: "true" } });
    admin = await setupAdmin(server);
    provider = await startIdentityProvider([`${server.url}/v1/auth/oidc/house/callback`], PEOPLE, [`${server.url}/`]);
    const body = {
      slug: "house",
      name: "House",
      issuer: provider.issuer,
      ...CLIENT,
      auto_create: true,
      allowed_domains: ["Example.test"],
      role_claim: "groups",
      admin_values: ["skep-admins"],
      button: { label: "With House" },
    };
    const made = await server.request("POST", "/v1/auth/oidc", { token: admin.token, body });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe("/v1/auth/oidc/house");
    expect(made.body["redirect_uri"]).toBe(`${server.url}/v1/auth/oidc/house/callback`);
    expect(JSON.stringify(made.body)).not.toContain(CLIENT.client_secret);
  });
  afterAll(async () => {
    await provider.stop();
    await server.remove();
  });

  /** Signs on through the provider's pages as this person. @returns the browser, and where it ended. */
  async function walk(person: string, returnTo = "") {
    const browser = createWebClient();
    const login = await browser.visit(`${server.url}/v1/auth/oidc/house/authorize${returnTo}`);
    const consent = await browser.submit(login, { login: person, password: "any" });
    const end = await browser.submit(consent, {}, `${server.url}/there`);
    return { browser, end };
  }
  const meOf = async (cookie: string) =>
    (await server.request("GET", "/v1/auth/me", { headers: { Cookie: cookie } })).body;

  test("buttons are public and hold nothing but slug, name and button", async () => {
    const { body } = await server.request("GET", "/v1/auth/oidc");
    expect(body["items"]).toEqual([{ slug: "house", name: "House", button: { label: "With House" } }]);
  });

  test("a browser comes back with a session cookie, at the page it came for; the role follows the claim", async () => {
    const { browser, end } = await walk("ada", "?return_to=/there%3Fx=1");
    expect(end.url).toBe(`${server.url}/there?x=1`);
    const me = await meOf(browser.cookiesFor(`${server.url}/v1/`));
    expect([me["email"], me["role"], me["has_password"]]).toEqual(["ada@example.test", "admin", false]);
    const second = await walk("ada");
    expect((await meOf(second.browser.cookiesFor(`${server.url}/v1/`)))["id"]).toBe(me["id"]);
  });

  test("groups give roles in projects, and the next sign-on takes them away; who was added by hand stays", async () => {
    const as = (method: string, path: string, body?: unknown) =>
      server.request(method, path, { token: admin.token, body });
    const { id } = (await as("POST", "/v1/projects", { name: "aviary", access: "members" })).body;
    const skep = async (...words: string[]) => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: server.data, SKEP_URL: server.url, SKEP_TOKEN: admin.token };
      const child = Bun.spawn(skepCommand("sso", "groups", "house", ...words), { env, stdout: "pipe", stderr: "pipe" });
      return { out: await new Response(child.stdout).text(), code: await child.exited };
    };
    const lost = [{ group: "staff", project_id: "proj_none", role: "viewer" }];
    expect((await as("PUT", "/v1/auth/oidc/house", { group_roles: lost })).status).toBe(422);
    expect((await skep("set", "builders", "aviary", "--role", "maintainer")).out).toContain(
      "is a maintainer of aviary",
    );
    await skep("set", "staff", "aviary", "--role", "owner");
    expect((await skep("set", "staff", "aviary", "--role", "viewer")).code).toBe(0);
    expect((await skep("remove", "nobody", "aviary", "--yes")).code).toBe(1);
    expect((await as("GET", "/v1/auth/oidc")).body["items"]).toMatchObject([
      {
        group_roles: [
          { group: "builders", project_id: id, role: "maintainer" },
          { group: "staff", project_id: id, role: "viewer" },
        ],
      },
    ]);
    expect((await skep("list")).out).toMatch(/builders +aviary +maintainer\nstaff +aviary +viewer/);
    const roleOf = async (groups: string[]) => {
      PEOPLE.bob.groups = groups;
      const headers = { Cookie: (await walk("bob")).browser.cookiesFor(`${server.url}/v1/`) };
      const found = await server.request("GET", `/v1/projects/${id}`, { headers });
      return found.body["role"] ?? found.status;
    };
    expect(await roleOf(["staff"])).toBe("viewer");
    expect(await roleOf(["staff", "builders"])).toBe("maintainer");
    expect(await roleOf(["others"])).toBe(404);
    await as("POST", `/v1/projects/${id}/members`, { user: PEOPLE.bob.email, role: "contributor" });
    expect(await roleOf(["staff", "builders"])).toBe("contributor");
    expect(await roleOf([])).toBe("contributor");
    expect((await skep("remove", "builders", "aviary", "--yes")).code).toBe(0);
    expect((await skep("list")).out).not.toContain("builders");
    PEOPLE.bob.groups = ["staff"];
  });

  test("a claim without the value makes a plain user", async () => {
    const { browser } = await walk("bob");
    const me = await meOf(browser.cookiesFor(`${server.url}/v1/`));
    expect([me["email"], me["role"]]).toEqual(["bob@example.test", "user"]);
  });

  test.each([
    ["eve", "account_unknown"],
    ["mal", "email_not_verified"],
  ])("%s gets in nowhere: %s", async (person, code) => {
    const { end, browser } = await walk(person);
    expect([end.status, end.text]).toEqual([403, expect.stringContaining(code)]);
    expect(end.headers.get("content-security-policy")).toStartWith("default-src 'none'");
    expect(browser.cookiesFor(`${server.url}/v1/`)).not.toContain("skep_session");
  });

  test("a page gets the address as JSON and brings code and state itself, for tokens", async () => {
    const browser = createWebClient();
    const headers = { Accept: "application/json" };
    const started = await browser.visit(`${server.url}/v1/auth/oidc/house/authorize`, { headers });
    const { authorization_url } = JSON.parse(started.text) as { authorization_url: string };
    const login = await browser.visit(authorization_url);
    const consent = await browser.submit(login, { login: "bob", password: "any" });
    const back = await browser.submit(consent, {}, `${server.url}/v1/auth/oidc/house/callback`);
    const answer = Object.fromEntries(new URL(back.url).searchParams);
    const post = (cookie: string) =>
      server.request("POST", "/v1/auth/oidc/house/callback", { body: answer, headers: { Cookie: cookie } });
    const done = await post(browser.cookiesFor(back.url));
    expect([done.status, done.body["token_type"]]).toEqual([200, "Bearer"]);
    expect((await server.request("GET", "/v1/auth/me", { token: done.body["access_token"] as string })).status).toBe(
      200,
    );
    expect((await post(browser.cookiesFor(back.url))).status).toBe(400);
  });

  test("logging out can end the session at the provider too", async () => {
    const { browser } = await walk("ada");
    const headers = { Cookie: browser.cookiesFor(`${server.url}/v1/`), Origin: server.url };
    const out = await server.request("POST", "/v1/auth/logout", { headers, body: { end_provider_session: true } });
    expect(out.status).toBe(200);
    const url = new URL(out.body["logout_url"] as string);
    expect(url.origin).toBe(provider.issuer);
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${server.url}/`);
    const page = await browser.visit(url.href);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("sign-out")]);
    expect((await server.request("GET", "/v1/auth/me", { headers })).status).toBe(401);
  });

  test("a form's settings are tried before they are stored: each error is named, with its remedy", async () => {
    const given = { slug: "house", issuer: provider.issuer, client_id: CLIENT.client_id };
    const trySettings = async (body: Record<string, unknown>) => {
      const { status, body: answer } = await server.request<{
        verdict: string;
        redirect_uri: string;
        findings: { check: string; verdict: string; remedy: string | null }[];
      }>("POST", "/v1/auth/oidc/test", { token: admin.token, body: { ...given, ...body } });
      expect([status, JSON.stringify(answer).includes(CLIENT.client_secret)]).toEqual([200, false]);
      const failed = answer.findings.filter(({ verdict }) => verdict === "fail");
      for (const { remedy } of failed) expect(remedy).not.toBeNull();
      return { ...answer, failed: failed.map(({ check }) => check) };
    };
    // The stored secret is used for the issuer for which it was stored.
    const good = await trySettings({});
    expect(good).toMatchObject({
      verdict: "ok",
      redirect_uri: `${server.url}/v1/auth/oidc/house/callback`,
      findings: ["discovery", "keys", "redirect", "secret", "scopes"].map((check) => ({ check, verdict: "ok" })),
    });
    expect((await trySettings({ client_secret: "another-secret-of-forty-characters-or-so" })).failed).toEqual([
      "secret",
    ]);
    expect((await trySettings({ client_id: "nobody", client_secret: "x" })).failed).toEqual(["redirect", "secret"]);
    const elsewhere = await trySettings({ slug: "unregistered", client_secret: CLIENT.client_secret });
    expect(elsewhere.failed).toEqual(["redirect"]);
    expect((await trySettings({ scopes: ["openid", "unheard-of"] })).findings.at(-1)).toMatchObject({
      verdict: "warn",
    });
    // A discovery document in which everything is wrong leads to a finding as well.
    let members: object = { authorization_endpoint: "javascript:alert(1)", token_endpoint: [] };
    const wrong = { scopes_supported: 5, token_endpoint_auth_methods_supported: 5 };
    const fetch = ({ url }: Request): Response => Response.json({ issuer: new URL(url).origin, ...wrong, ...members });
    const odd = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
    const issuer = `http://127.0.0.1:${odd.port}`;
    expect((await trySettings({ issuer })).failed).toEqual(["discovery"]);
    const stored = { slug: "odd", name: "Odd", issuer, client_id: "x" };
    expect((await server.request("POST", "/v1/auth/oidc", { token: admin.token, body: stored })).status).toBe(201);
    expect((await server.request("GET", "/v1/auth/oidc/odd/authorize")).status).toBe(503);
    expect((await server.request("DELETE", "/v1/auth/oidc/odd", { token: admin.token })).status).toBe(204);
    members = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, jwks_uri: {} };
    expect((await trySettings({ issuer })).failed).toEqual(["keys"]);
    await odd.stop(true);
    // The stored secret is sent to no other issuer, and an invalid address is refused.
    const { hostname, port } = new URL(provider.issuer);
    expect((await trySettings({ issuer: `http://localhost:${port}` })).failed).toEqual(["discovery"]);
    expect((await trySettings({ issuer: `http://${hostname}:9` })).failed).toEqual(["discovery"]);
    const refused = { ...given, issuer: "http://169.254.169.254/" };
    const answer = await server.request("POST", "/v1/auth/oidc/test", { token: admin.token, body: refused });
    expect(answer.status).toBe(422);
  });

  test("settings are checked: issuer, domains, values; a new issuer drops the secret", async () => {
    const put = (body: unknown) => server.request("PUT", "/v1/auth/oidc/house", { token: admin.token, body });
    for (const body of [
      { issuer: "http://idp.example.test" },
      { issuer: "file:///etc/passwd" },
      { allowed_domains: [] },
      { admin_values: [] },
      { button: { color: "red;}" } },
    ])
      expect([body, (await put(body)).status]).toEqual([body, 422]);
    const spare = { slug: "spare", name: "Spare", issuer: "https://one.example.test", ...CLIENT };
    expect((await server.request("POST", "/v1/auth/oidc", { token: admin.token, body: spare })).status).toBe(201);
    expect((await server.request("POST", "/v1/auth/oidc", { token: admin.token, body: spare })).status).toBe(409);
    const moved = await server.request("PUT", "/v1/auth/oidc/spare", {
      token: admin.token,
      body: { issuer: "https://two.example.test" },
    });
    expect([moved.status, moved.body["client_secret_set"]]).toEqual([200, false]);
    expect((await server.request("DELETE", "/v1/auth/oidc/spare", { token: admin.token })).status).toBe(204);
    expect((await server.request("DELETE", "/v1/auth/oidc/spare", { token: admin.token })).status).toBe(404);
  });
});
