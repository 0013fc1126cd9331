/** Getting in: the very first administrator, log-in with a second factor, an ended session, and what a user does not see. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generateSync } from "otplib";
import type { Browser, Page } from "playwright-core";
import { type Account, makeUser, PASSWORD } from "../accounts.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(180_000);
const ADMIN = "admin@example.test";

describe.skipIf(!hasBrowser())("getting into the dashboard", () => {
  let server: TestServer;
  let browser: Browser;
  let administrator: Account;
  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startServer({ env: { AUTH_ENABLED: "true", RATE_LIMIT: "0", TRUSTED_PROXIES: "10.1.2.3" } }),
      openBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  const logIn = async (page: Page, email: string, password = PASSWORD) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Log in" }).click();
  };
  /** Statuses that a log-in page brings about and browsers write down. */
  const unexpected = (faults: string[]) => faults.filter((fault) => !/40[13]|422/.test(fault));

  test("the first start leads to the first administrator, with the token that the server printed", async () => {
    const { page, close, axe, faults } = await visit(browser, server.url);
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Welcome to Skep" }).waitFor();
    expect(await axe()).toEqual([]);
    await page.getByLabel("E-mail").fill(ADMIN);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByLabel("Setup token").fill("skst_wrong");
    await page.getByRole("button", { name: "Make the account" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Setup token").fill(readFileSync(join(server.data, "setup-token"), "utf8").trim());
    await page.getByRole("button", { name: "Make the account" }).click();
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([[true, "Strict"]]);
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toMatch(/eyJ|skst_/);
    await page.getByRole("button", { name: "Start the example" }).click();
    await page.waitForURL(/\/runs\/run_/);
    const { access_token: token } = (
      await server.request<{ access_token: string }>("POST", "/v1/auth/login", {
        body: { email: ADMIN, password: PASSWORD },
      })
    ).body;
    administrator = { id: "", email: ADMIN, token, refresh: "" };
    await close();
    expect(unexpected(faults)).toEqual([]);
  });

  test("a second factor is set up and asked for; an ended session asks again and leads back to the same page", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await page.goto(`${server.url}/account`);
    await logIn(page, ADMIN, "not the password");
    await page.getByRole("alert").waitFor();
    await logIn(page, ADMIN);
    await page.getByRole("heading", { name: "My account" }).waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    const code = page.locator("code").filter({ hasText: /^[A-Z2-7]{16,}$/ });
    await code.waitFor();
    const secret = (await code.textContent()) ?? "";
    await page.getByLabel("The code it shows").fill(generateSync({ secret }));
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Keep these recovery codes").waitFor();
    const recovery = (await page.locator("pre").allInnerTexts()).join(" ").trim().split(/\s+/)[0]!;
    await open("/runs?status=failed");
    await page.context().clearCookies();
    await page
      .getByRole("button", { name: /Local|Admin|admin/ })
      .first()
      .waitFor();
    await page.getByLabel("State").selectOption("waiting");
    await page.getByRole("heading", { name: "Log in again" }).waitFor();
    await logIn(page, ADMIN);
    await page.getByRole("button", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill(recovery);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    expect(page.url()).toContain("/runs?status=waiting");
    await close();
    expect(unexpected(faults)).toEqual([]);
  });

  test("a user sees no page of administrators, and the API refuses as well", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await makeUser(server, administrator, "user@example.test");
    await page.goto(server.url);
    await logIn(page, "user@example.test");
    await page.getByRole("heading", { name: "Home" }).waitFor();
    for (const name of ["Users", "Settings", "System"])
      expect([
        name,
        await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).count(),
      ]).toEqual([name, 0]);
    await open("/settings");
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    expect(await page.evaluate("fetch('/v1/settings').then((answer) => answer.status)")).toBe(403);
    await open("/agents/engineer");
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await close();
    expect(unexpected(faults)).toEqual([]);
  });
});
