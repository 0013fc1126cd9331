/**
 * Log-in as a browser does it: Chromium, the session cookie, and real navigation through an identity provider on
 * another site. Browsers themselves decide which cookies they send across sites, so only a browser can show it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Account, PASSWORD, setupAdmin } from "../accounts.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { typeInto } from "../dashboard/keyboard.ts";
import { CLIENT, type IdentityProvider, startIdentityProvider } from "../identity-provider.ts";
import { startServer, type TestServer } from "../server.ts";
import { createWebClient } from "../web-client.ts";

const PEOPLE = { ada: { email: "ada@example.test", email_verified: true, groups: ["skep-admins"] } };

describe.skipIf(!hasBrowser())("a browser", () => {
  let server: TestServer;
  let admin: Account;
  let provider: IdentityProvider;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** Another site with an attacker's page. */
  let evil: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    server = await startServer({ env: { AUTH_ENABLED: "true" } });
    admin = await setupAdmin(server);
    const callback = `${server.url}/v1/auth/oidc/house/callback`;
    provider = await startIdentityProvider([callback], PEOPLE, [`${server.url}/`], "localhost");
    const made = await server.request("POST", "/v1/auth/oidc", {
      token: admin.token,
      body: {
        slug: "house",
        name: "House",
        issuer: provider.issuer,
        ...CLIENT,
        auto_create: true,
        allowed_domains: ["example.test"],
        role_claim: "groups",
        admin_values: ["skep-admins"],
      },
    });
    expect(made.status).toBe(201);
    const html = `<form id="f" method="post" action="${server.url}/v1/auth/logout"></form><a id="a" href="${server.url}/v1/auth/me">x</a>`;
    const headers = { "Content-Type": "text/html" };
    evil = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(html, { headers }) });
    browser = await openBrowser();
    context = await browser.newContext();
    page = await context.newPage();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await evil?.stop(true);
    await provider?.stop();
    await server?.remove();
  });

  /** Sends a request from a script of the page. */
  const ask = (method: string, path: string, body?: unknown) =>
    page.evaluate(
      async ([method, url, body]) => {
        const json = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body };
        const answer = await fetch(url!, { method: method!, credentials: "include", ...json });
        const text = await answer.text();
        const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
        return { status: answer.status, body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown> };
      },
      [method, `${server.url}${path}`, body === undefined ? undefined : JSON.stringify(body)] as const,
    );
  const sessionCookie = async () => (await context.cookies(server.url)).find(({ name }) => name === "skep_session");
  const home = () => page.goto(`${server.url}/`);
  const elsewhere = () => page.goto(`http://localhost:${evil.port}/`);

  test("a page logs in for a cookie that no script reads, works with it, and is out after log-out", async () => {
    await home();
    expect((await ask("GET", "/v1/auth/me")).status).toBe(401);
    const login = { email: admin.email, password: PASSWORD, session: "cookie" };
    const done = await ask("POST", "/v1/auth/login", login);
    expect([done.status, done.body["token_type"], done.body["access_token"]]).toEqual([200, "Cookie", undefined]);
    expect(await sessionCookie()).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    expect(await page.evaluate("document.cookie")).toBe("");
    expect((await ask("GET", "/v1/auth/me")).body["email"]).toBe(admin.email);
    expect((await ask("POST", "/v1/events/ticket")).status).toBe(200);
    const opened = await page.evaluate(`new Promise((resolve) => {
      const stream = new EventSource("/v1/events/stream");
      stream.onopen = () => resolve(stream.close() === undefined);
      stream.onerror = () => resolve(false);
    })`);
    expect(opened).toBe(true);
    expect((await ask("POST", "/v1/auth/logout")).status).toBe(204);
    expect(await sessionCookie()).toBeUndefined();
    expect((await ask("GET", "/v1/auth/me")).status).toBe(401);
  }, 300_000);

  test("a page of another site can neither change nor read anything with that cookie", async () => {
    await home();
    await ask("POST", "/v1/auth/login", { email: admin.email, password: PASSWORD, session: "cookie" });
    await elsewhere();
    await expect(ask("GET", "/v1/auth/me")).rejects.toThrow("Failed to fetch");
    await expect(ask("POST", "/v1/auth/logout", {})).rejects.toThrow("Failed to fetch");
    await Promise.all([page.waitForURL(/logout/), page.evaluate("document.getElementById('f').submit()")]);
    expect(await page.textContent("body")).toContain("foreign_origin");
    await elsewhere();
    // A plain link does not carry the cookie, either, because it is SameSite=Strict.
    await Promise.all([page.waitForURL(/auth\/me/), page.click("#a")]);
    expect(await page.textContent("body")).toContain('"status":401');
    await home();
    expect((await ask("GET", "/v1/auth/me")).status).toBe(200);
    await ask("POST", "/v1/auth/logout");
  }, 300_000);

  /** Answers on the provider's pages: who the user is, and that the provider may tell. */
  async function throughProvider(): Promise<void> {
    await typeInto(page.locator("input[name=login]"), "ada");
    await typeInto(page.locator("input[name=password]"), "any");
    await page.click("button[type=submit]");
    await page.waitForURL(/interaction/);
    await page.click("button[type=submit]");
  }

  test("sign-on goes to the provider and back to the page that was wanted, and ends at both", async () => {
    await page.goto(`${server.url}/?welcome=1`);
    await page.getByRole("link", { name: "Continue with House" }).click();
    await page.waitForURL(`${provider.issuer}/**`);
    expect(new URL(page.url()).origin).toBe(provider.issuer);
    const flow = (await context.cookies(`${server.url}/v1/auth/oidc`)).filter(({ name }) => name.startsWith("skep_"));
    expect(flow).toEqual([expect.objectContaining({ httpOnly: true, sameSite: "Lax", path: "/v1/auth/oidc" })]);
    await throughProvider();
    await page.waitForURL(`${server.url}/?welcome=1`);
    const me = await ask("GET", "/v1/auth/me");
    expect([me.body["email"], me.body["role"]]).toEqual(["ada@example.test", "admin"]);
    const left = (await context.cookies(`${server.url}/v1/auth/oidc`)).map(({ name }) => name);
    expect(left).toEqual(["skep_session"]);
    expect((await ask("POST", "/v1/events/ticket")).status).toBe(200);

    const out = await ask("POST", "/v1/auth/logout", { end_provider_session: true });
    expect(out.status).toBe(200);
    await page.goto(out.body["logout_url"] as string);
    await page.click("button[value=yes]");
    await page.waitForURL(`${server.url}/`);
    expect((await ask("GET", "/v1/auth/me")).status).toBe(401);
    // The provider asks again, because its session is over, too.
    await page.goto(`${server.url}/v1/auth/oidc/house/authorize`);
    expect(await page.locator("input[name=login]").count()).toBe(1);
  }, 300_000);

  test("an attacker's answer, opened in a victim's browser, logs nobody in", async () => {
    // The attacker stops their own client before it delivers the answer.
    const attacker = createWebClient();
    const login = await attacker.visit(`${server.url}/v1/auth/oidc/house/authorize`);
    const consent = await attacker.submit(login, { login: "ada", password: "any" });
    const { url: answer } = await attacker.submit(consent, {}, `${server.url}/v1/auth/oidc/house/callback`);
    expect(answer).toContain("code=");
    const opened = await page.goto(answer);
    expect([opened?.status(), await page.textContent("code")]).toEqual([400, "sign_on_unknown"]);
    expect(await sessionCookie()).toBeUndefined();
  }, 300_000);
});
