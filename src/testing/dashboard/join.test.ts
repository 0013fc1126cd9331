/** An invitation link in a browser, by keyboard: people who are not logged in log in first, come back, and join. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { type Account, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

async function logIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail").waitFor();
  await typeInto(page.getByLabel("E-mail"), email);
  await typeInto(page.getByLabel("Password"), PASSWORD);
  await page.keyboard.press("Enter");
}

describe.skipIf(!hasBrowser())("the link of an invitation", () => {
  let server: TestServer;
  let browser: Browser;
  let ann: Account;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env: { AUTH_ENABLED: "true" } }), openBrowser()]);
    const admin = await setupAdmin(server);
    ann = await makeUser(server, admin, "ann@example.test");
    await makeUser(server, admin, "ben@example.test");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  test("leads through the log-in to the project; used or revoked, it says so in a sentence", async () => {
    const post = (path: string, body: object) => server.request("POST", path, { token: ann.token, body });
    const project = (await post("/v1/projects", { name: "aviary", access: "members" })).body["id"];
    const invitations = `/v1/projects/${project}/invitations`;
    const { token } = (await post(invitations, { role: "viewer" })).body;
    const other = (await post(invitations, { role: "contributor" })).body;
    const { page, waitUntilSettled, close, axe, faults } = await visit(browser, server.url);
    await page.goto(`${server.url}/join/${token}`);
    await logIn(page, "ben@example.test");
    await page.getByRole("heading", { name: "Join aviary" }).waitFor();
    await waitUntilSettled();
    expect(await page.locator("main").textContent()).toContain("ann invites you to aviary as a viewer.");
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Join the project" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.url}/projects/${project}`);
    await page.getByRole("heading", { name: "aviary" }).first().waitFor();
    await page.goto(`${server.url}/join/${token}`);
    await page.getByText("You are a member of aviary already.").waitFor();
    await server.request("DELETE", `${invitations}/${other["id"]}`, { token: ann.token });
    const before = faults.length;
    await page.goto(`${server.url}/join/${other["token"]}`);
    await page.getByText("This invitation was revoked. Ask who invited you for another.").waitFor();
    // The browser records only the refusal; before the log-in, it recorded that of the request for the user.
    expect(faults.slice(before).filter((fault) => !fault.includes("409"))).toEqual([]);
    expect(faults.slice(0, before).filter((fault) => !fault.includes("401"))).toEqual([]);
    await close();
  });

  test("is made on the page of members, where an owner adds people and gives roles; a viewer is offered what a viewer may do, on the board too", async () => {
    const project = (await server.request("POST", "/v1/projects", { token: ann.token, body: { name: "dovecote" } }))
      .body["id"];
    const { page, waitUntilSettled, close, axe } = await visit(browser, server.url);
    await page.goto(`${server.url}/projects/${project}`);
    await logIn(page, "ann@example.test");
    await page.getByRole("link", { name: "Members" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Members of dovecote" }).waitFor();
    await page.getByLabel("Open to").selectOption("members");
    await page.getByText("dovecote is open to its members.").waitFor();
    await page.getByRole("button", { name: "Add a member" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("ben@example.test");
    await page.keyboard.press("Enter");
    await page.getByLabel("Role of ben").waitFor();
    await page.getByLabel("Role of ben").selectOption("viewer");
    await page.getByText("ben is viewer now.").waitFor();
    await page.getByRole("button", { name: "Invite by link" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Make the link" }).click();
    const link = await page.getByRole("dialog").locator("code").textContent();
    expect(link).toStartWith(`${server.url}/join/`);
    await page.keyboard.press("Escape");
    await page.getByText("0 of 1").waitFor();
    await waitUntilSettled();
    expect(await axe()).toEqual([]);
    await close();

    const ben = await visit(browser, server.url);
    await ben.page.goto(`${server.url}/projects/${project}`);
    await logIn(ben.page, "ben@example.test");
    await ben.page.getByRole("link", { name: "Members" }).waitFor();
    for (const name of ["Start a run", "Edit", "Delete"])
      expect([name, await ben.page.getByRole("main").getByText(name, { exact: true }).count()]).toEqual([name, 0]);
    const task = `/v1/projects/${project}/tasks`;
    expect((await server.request("POST", task, { token: ann.token, body: { title: "Paint it" } })).status).toBe(201);
    await ben.open(`/board?project=${project}`);
    await ben.page.getByRole("article", { name: "Paint it" }).waitFor();
    expect(await ben.page.getByRole("button", { name: /New task|More|Move Paint it|Add to/ }).count()).toBe(0);
    await ben.open(`/projects/${project}/members`);
    expect(await ben.page.getByLabel("Open to").isDisabled()).toBe(true);
    expect(await ben.page.getByRole("button", { name: "Add a member" }).count()).toBe(0);
    await ben.page.getByRole("button", { name: "Leave" }).click();
    await ben.page.getByRole("button", { name: "Leave the project" }).click();
    await ben.page.waitForURL(`${server.url}/projects`);
    await ben.page.goto(`${server.url}/projects/${project}`);
    await ben.page.getByText("There is no such project").waitFor();
    await ben.close();
  });
});
