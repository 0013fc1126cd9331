/**
 * In a browser: the code host with its rules and deliveries, channels for notifications, a project made in an onboarding, a tool
 * server that is imported and logged in to.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { type CodeHostFake, signWebhook, startCodeHost, WEBHOOK_SECRET } from "../code-host.ts";
import { startWebServer } from "../mcp/web-server.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { PHONE, visit } from "./visitor.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("what Skep is connected to", () => {
  let host: CodeHostFake;
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    host = await startCodeHost({ kind: "gitea" });
    host.permissions.set("alice", "write");
    [server, browser] = await Promise.all([
      startServer({ env: { FETCH_ALLOW: "127.0.0.1", NOTIFY_ALLOW: "127.0.0.1" } }),
      openBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    await host?.stop();
  });

  test("the code host is connected with a wrong token, then with the right one; a repository of it becomes a project", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/code-host");
    await page.getByRole("button", { name: "Connect a code host" }).click();
    await page.getByLabel("Host", { exact: true }).selectOption("gitea");
    await typeInto(page.getByLabel("Address", { exact: true }), host.origin);
    await typeInto(page.getByLabel("Access token"), "pat-token-wrong");
    await typeInto(page.getByLabel("Webhook secret"), "short");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/webhook_secret/)
      .first()
      .waitFor();
    await typeInto(page.getByLabel("Webhook secret"), WEBHOOK_SECRET);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("alert").first().waitFor();
    await page.getByText("Failed", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Change the connection" }).click();
    await page.getByText("One is stored. Leave empty to keep it.").first().waitFor();
    await typeInto(page.getByLabel("Access token"), "pat-token-0451");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Well", { exact: true }).waitFor();
    await page.getByText(`${server.url}/v1/codehost/webhooks`).waitFor();
    expect(await page.content()).not.toContain("pat-token-0451");

    await page.getByRole("link", { name: "Repositories" }).click();
    await page.getByRole("button", { name: `Add ${host.repository} as a project` }).click();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "shop", level: 1 }).waitFor();
    await open("/code-host?tab=repositories");
    await page.getByRole("link", { name: "Open the project" }).waitFor();
    await close();
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
  });

  test("a rule is made, tried at an issue, changed, switched off and deleted; the result of deliveries is shown", async () => {
    const { page, close, open, faults, axe, overflow } = await visit(browser, server.url);
    await open("/code-host?tab=rules");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await typeInto(page.getByLabel("Name", { exact: true }), "Labelled issues");
    await page.getByLabel("Project").selectOption({ label: "shop" });
    await page.getByLabel("Pipeline that runs").selectOption("hello");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const rules = page.getByRole("table", { name: "Rules" });
    await rules.getByText(/an issue gets a label, label agent/).waitFor();
    expect(await axe()).toEqual([]);

    const number = host.newNumber();
    host.issues.set(number, { title: "Too low", body: "", user: "stranger", labels: ["agent"], state: "open" });
    const choose = async (action: string) => {
      await page.getByRole("button", { name: "More about Labelled issues" }).click();
      await page.getByRole("menuitem", { name: action }).click();
    };
    await choose("Try it");
    const trial = page.getByRole("dialog", { name: "Try Labelled issues" });
    await typeInto(trial.getByLabel("Number of the issue"), String(number));
    await trial.getByRole("button", { name: "Try", exact: true }).click();
    await trial.getByText(/No: stranger has the permission/).waitFor();
    await typeInto(trial.getByLabel("Who does it"), "alice");
    await trial.getByRole("button", { name: "Try", exact: true }).click();
    await trial.getByText("Yes: A run of hello would start.").waitFor();
    await page.keyboard.press("Escape");

    await rules.getByRole("link", { name: /Labelled issues/ }).click();
    await page.getByLabel("When", { exact: true }).selectOption("issue_comment");
    await typeInto(page.getByRole("textbox", { name: "Command" }), "/go");
    await page.getByRole("button", { name: "Save" }).click();
    await rules.getByText(/begins with a command, \/go/).waitFor();

    const body = JSON.stringify({
      action: "created",
      issue: { number },
      repository: { full_name: host.repository },
      comment: { id: host.say(number, "stranger", "/go now").id, body: "/go" },
      sender: { login: "stranger" },
    });
    const headers = signWebhook("gitea", "issue_comment", body);
    expect((await server.request("POST", "/v1/codehost/webhooks", { body, headers })).status).toBe(202);
    await page.getByRole("link", { name: "Deliveries" }).click();
    await page
      .getByRole("table", { name: "Deliveries" })
      .getByText(/stranger has the permission/)
      .waitFor();
    await page.getByLabel("State").selectOption("failed");
    await page.getByText("No delivery is in that state.").waitFor();

    await open("/code-host?tab=rules");
    await choose("Switch off");
    await rules.getByText("off", { exact: true }).waitFor();
    await page.setViewportSize(PHONE);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await choose("Delete");
    await page.getByRole("button", { name: "Delete the rule" }).click();
    await page.getByText("Nothing on the code host starts a run until a rule says so.").waitFor();

    await open("/code-host");
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText(/No code host is connected/).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a channel is added with its key shown once, tested, mended, and deleted; what was sent is listed", async () => {
    const taken: { title: string }[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        if (!request.url.endsWith("/hook")) return new Response("no", { status: 404 });
        taken.push(((await request.json()) as { data: { title: string } }).data);
        return new Response("ok");
      },
    });
    const { page, close, open, faults, axe, overflow } = await visit(browser, server.url);
    await open("/notifications");
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByLabel("Kind").selectOption("webhook");
    await typeInto(page.getByLabel("Name", { exact: true }), "chat bot");
    await typeInto(page.getByLabel("Address"), "ftp://127.0.0.1/hook");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await typeInto(page.getByLabel("Address"), `http://127.0.0.1:${receiver.port}/elsewhere`);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const key = page.getByRole("dialog", { name: "Key of the webhook" });
    await key.getByText(/^whsec_/).waitFor();
    await key.getByRole("button", { name: "I have kept it" }).click();
    const channel = page.getByRole("dialog", { name: "chat bot" });
    await channel.getByText("Nothing was sent there yet.").waitFor();
    await channel.getByRole("button", { name: "Send a test" }).click();
    await channel.getByText(/The test was not sent: .*404/).waitFor();
    await channel.getByRole("table", { name: "Deliveries" }).getByText("Failed").waitFor();
    expect(await axe()).toEqual([]);
    await channel.getByRole("button", { name: "Edit" }).click();
    await typeInto(page.getByLabel("Address"), `http://127.0.0.1:${receiver.port}/hook`);
    await page.getByLabel("A run ended").check();
    await page.getByRole("button", { name: "Save" }).click();
    await channel.getByRole("button", { name: "Send a test" }).click();
    await channel.getByText("The test was sent.").waitFor();
    expect(taken).toMatchObject([{ title: "Test of a notification channel" }]);
    await page.setViewportSize(PHONE);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await channel.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the channel" }).click();
    await page.getByText(/Nothing is sent to you yet/).waitFor();
    await page.getByRole("link", { name: "Notices" }).click();
    await page.getByText("All is well.").waitFor();
    await close();
    await receiver.stop(true);
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
  });

  test("a project is made in an onboarding: left and taken up again, what is known filled in beside it, given up", async () => {
    const { page, close, open, faults, axe, overflow } = await visit(browser, server.url);
    await open("/projects");
    await page.getByRole("link", { name: "Onboard a project" }).click();
    await page.getByRole("button", { name: "Start" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    const log = page.getByRole("log", { name: "Onboarding" });
    const known = page.getByRole("region", { name: "What is known so far" });
    const say = async (text: string) => {
      await typeInto(page.getByRole("textbox", { name: "Message", exact: true }), text);
      await page.keyboard.press("Enter");
    };
    await log.getByText("What shall the project be called?").waitFor();
    await say("Bird <i>feeder</i>");
    await page.getByRole("heading", { name: "Bird <i>feeder</i>", level: 1 }).waitFor();
    await known.getByText("summary").waitFor();
    await log.getByText("What is it to reach?").waitFor();
    expect(await axe()).toEqual([]);

    await open("/onboarding");
    await page.getByRole("table", { name: "Onboardings" }).getByRole("link", { name: /Bird/ }).click();
    await log.getByText("What is it to reach?").waitFor();
    await say("Feed birds");
    await log.getByText("What can somebody do with it?").waitFor();
    await page.setViewportSize(PHONE);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await say("See who comes");
    await log.getByText("How is it built?").waitFor();
    await say("A camera and a small server");
    await page.getByText("The project is made, with its vision and first tasks.").waitFor();
    await page.getByRole("link", { name: "See its board" }).click();
    await page.getByText("Make the skeleton").first().waitFor();

    await open("/onboarding?new=1");
    await typeInto(page.getByLabel("What do you want to build?"), "Nothing much");
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    await page.getByRole("button", { name: "Give up" }).click();
    await page.getByRole("button", { name: "Give it up" }).click();
    await page.getByText("This onboarding was given up. No project was made.").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.getByRole("table", { name: "Onboardings" }).waitFor();
    await page.getByText("Nothing much").waitFor({ state: "detached" });
    await close();
    expect(faults.filter((fault) => !/404/.test(fault))).toEqual([]);
  });

  test("tool servers are imported from a pasted file; one is logged in to, changed, granted, its log followed", async () => {
    const web = startWebServer({ oauth: true });
    const { page, close, open, faults, axe, overflow } = await visit(browser, server.url);
    await open("/tool-servers");
    await page.getByRole("button", { name: "Import a file" }).click();
    const text = page.getByLabel("Its text");
    await typeInto(text, "{ mcpServers");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText(/This is not JSON/).waitFor();
    const config = {
      mcpServers: { tickets: { url: web.url, headers: { "X-Team": "abc-1234567" } }, broken: { args: 3 } },
    };
    await page.getByLabel("File", { exact: true }).setInputFiles({
      name: "mcp.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(config)),
    });
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const done = page.getByRole("dialog", { name: "Imported" });
    await done.getByText("1 server added, switched off.").waitFor();
    await done.getByText("broken").waitFor();
    await done.getByRole("link", { name: "tickets" }).click();
    await page.getByRole("heading", { name: "tickets", level: 1 }).waitFor();

    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Change tickets" });
    expect(await form.getByLabel("Headers").inputValue()).not.toContain("abc-1234567");
    await typeInto(form.getByLabel("Name", { exact: true }), "Ticket desk");
    await typeInto(form.getByLabel("Address"), "ftp://tickets.example.test");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    await typeInto(form.getByLabel("Address"), web.url);
    await typeInto(form.getByLabel("Time for one call"), "12.5");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Ticket desk", level: 1 }).waitFor();
    await page.getByText("12.5 s").waitFor();
    const kept = await server.request<{ headers: unknown }>("GET", "/v1/mcp/tickets");
    expect(JSON.stringify(kept.body.headers)).toContain("X-Team");

    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByRole("button", { name: "Log in to it" }).click();
    const [popup] = await Promise.all([
      page.waitForEvent("popup"),
      page.getByRole("link", { name: /^Continue at 127\.0\.0\.1/ }).click(),
    ]);
    await popup.getByText("Skep is logged in to the tool server tickets.").waitFor();
    await popup.close();
    await page.getByText("Skep is logged in to it.").waitFor();
    await page.locator("summary").filter({ hasText: /^say/ }).waitFor();
    await page.getByRole("log", { name: "Log of the server" }).getByText(/\w/).first().waitFor();
    expect(await axe()).toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await overflow()).toBeLessThanOrEqual(0);

    const every = page.getByLabel("Every agent, also those that come later");
    await every.click();
    await every.and(page.locator(":enabled:checked")).waitFor();
    await every.click();
    await page.getByLabel("Scribe").and(page.locator(":enabled:checked")).click();
    await page.getByLabel("Scribe").and(page.locator(":enabled:not(:checked)")).waitFor();
    const { body } = await server.request<{ agents: string[] }>("GET", "/v1/mcp/tickets");
    expect(body.agents).toContain("engineer");
    expect(body.agents).not.toContain("scribe");
    await page.getByRole("button", { name: "Forget the log-in" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget the log-in" }).click();
    await page.getByRole("button", { name: "Log in to it" }).waitFor();
    await close();
    await web.stop();
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
  });
});
