/** The dashboard in use: questions answered in place, live updates, keyboard, two editors, a restart. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { waitForRunEnd } from "../attacks/held-run.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { pressTo, readFocus, typeInto } from "./keyboard.ts";
import type { Seeded } from "./seed.ts";
import { PHONE, visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("the dashboard in use", () => {
  const dashboard = withDashboard();
  let server: TestServer;
  let browser: Browser;
  let ids: Seeded;
  beforeAll(() => {
    ({ server, browser, ids } = dashboard());
  });

  test("an approval is answered where it is, and the page follows the run to its end by itself", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.waiting}`);
    const card = page.getByRole("article", { name: "Approval confirm" });
    expect(await card.textContent()).toContain("One writer with tests.");
    expect(await card.textContent()).toContain("Continues with Build.");
    expect(await card.textContent()).toContain("The run ends as failed.");
    await typeInto(card.getByPlaceholder("A comment"), "Continue, and mind the commas.");
    await card.getByRole("button", { name: "Approve" }).click();
    await page.locator("header").getByText("Succeeded").waitFor();
    await card.waitFor({ state: "detached" });
    await open("/runs?status=succeeded");
    await page.getByText("Let reports be exported as CSV").first().waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("by keyboard alone: help, pages, rows, the palette, a run started and found", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    // Two keys belong together within a second and a half. On a busy machine they may arrive too far apart.
    const runs = page.getByRole("heading", { name: "Runs", level: 1 });
    const there = () =>
      runs.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    do {
      await page.keyboard.press("g");
      await page.keyboard.press("r");
    } while (!(await there()) && !(await runs.isVisible()));
    await page.getByRole("table", { name: "Runs" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const height = () => page.evaluate("document.querySelector('table').getBoundingClientRect().top + scrollY");
    const before = await height();
    await page.keyboard.press("x");
    await page.getByText("1 run selected").waitFor();
    expect(await height()).toBe(before);
    await page.keyboard.press("x");
    const size = page.viewportSize()!;
    await page.setViewportSize({ ...size, height: 300 });
    const below = () => page.evaluate("Math.round(document.documentElement.scrollHeight - innerHeight - scrollY)");
    await page.keyboard.press("End");
    expect(await below(), "what is below the window after End").toBeLessThanOrEqual(1);
    await page.keyboard.press("Home");
    expect(await page.evaluate("scrollY"), "what is above the window after Home").toBe(0);
    await page.setViewportSize(size);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\/run_/);
    await page.keyboard.press("Control+k");
    await typeInto(page.getByPlaceholder("Where to"), "nightly");
    await page.getByRole("option", { name: /Nightly checks of the export/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nightly checks of the export" }).waitFor();
    await page.keyboard.press("Control+k");
    await typeInto(page.getByPlaceholder("Where to"), "start a run");
    await page.getByRole("option", { name: "Start a run" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("Task").waitFor();
    await page.getByLabel("Pipeline").selectOption("checks");
    await typeInto(page.getByLabel("Task"), "Check it by keyboard");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "Check it by keyboard" }).waitFor();
    await page.locator("header").getByText("Failed").waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("by keyboard alone: an approval answered, a message sent, a card moved, a line commented on and sent back; the focus is seen at every stop", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    const wrong: string[] = [];
    const to = async (key: string, name: string | RegExp) => void wrong.push(...(await pressTo(page, key, name)));
    const body = { pipeline_id: "change", task_description: "Approve me by keyboard" };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body;
    await open(`/runs/${id}`);
    const card = page.getByRole("article", { name: "Approval confirm" });
    await card.getByRole("button", { name: "Approve" }).waitFor();
    await page.keyboard.press("a");
    await to("Shift+Tab", "Comment");
    await page.keyboard.type("Continue.");
    await to("Tab", "Approve");
    await page.keyboard.press("Enter");
    await page.locator("header").getByText("Succeeded").waitFor();

    await open(`/chat/${ids.chat}`);
    await to("Tab", "Message");
    await page.keyboard.type("Sent by keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "You" }).getByText("Sent by keyboard").waitFor();
    await page.getByRole("article", { name: /, answering$/ }).waitFor({ state: "detached" });

    await open("/board");
    await page.getByRole("article", { name: "Export reports as CSV" }).waitFor();
    await to("Tab", "Export reports as CSV");
    await page.keyboard.press("m");
    await page.getByRole("menu").waitFor();
    await to("ArrowDown", "To Backlog");
    await page.keyboard.press("Enter");
    const backlog = page.getByRole("region", { name: "Backlog", exact: true });
    await backlog.getByRole("article", { name: "Export reports as CSV" }).waitFor();

    await open(`/runs/${ids.changed}?tab=changes`);
    await page.getByRole("region", { name: "src/cart.ts" }).getByText("private percent = 0;").waitFor();
    await page.keyboard.press("n");
    while (!/^.{0,12}src\/cart\.ts/.test((await readFocus(page)).name)) await page.keyboard.press("n");
    await to("ArrowDown", "Comment on line 6");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Comment" }).waitFor();
    await page.keyboard.type("A hundredth, please.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "src/cart.ts" }).getByText("A hundredth, please.").waitFor();
    await page.getByRole("textbox", { name: "Comment" }).waitFor({ state: "detached" });
    await becomes(async () => (await readFocus(page)).name, "Comment on line 6");
    await to("Shift+Tab", "Send back (1)");
    await page.keyboard.press("Enter");
    await page.getByLabel("Message").waitFor();
    await to("Tab", "Send back");
    await page.keyboard.press("Enter");
    await page.getByRole("log", { name: "Log of the step" }).waitFor();
    await close();
    expect([...faults, ...wrong]).toEqual([]);
  });

  test("by keyboard alone: a routine, a task and its agents, a budget, a symbol, a memory, a tool server, a colleague", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    const wrong: string[] = [];
    const to = async (key: string, name: string | RegExp) => void wrong.push(...(await pressTo(page, key, name)));
    const press = async (name: string | RegExp) => {
      await to("Tab", name);
      await page.keyboard.press("Enter");
    };
    const fill = async (name: string | RegExp, text: string) => {
      await to("Tab", name);
      await page.keyboard.type(text);
    };
    const heading = (name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();
    /** Opens a dialog and checks that its first field has the focus. */
    const dialog = async (button: string, first: string) => {
      await press(button);
      await page.getByRole("dialog").waitFor();
      await page.keyboard.type(first);
    };

    /** Waits until a closed dialog has returned the focus. */
    const back = (button: string) => page.locator("button:focus", { hasText: button }).waitFor();

    await open("/routines");
    await dialog("New routine", "Evening round");
    await fill(/^Instructions/, "Say what is open.");
    await press("Create");
    await heading("Evening round");

    await open(`/board?project=${ids.project}`);
    await dialog("New task", "Made by keyboard");
    await press("Add");
    await page.getByRole("article", { name: "Made by keyboard" }).waitFor();
    await back("New task");
    await to("Tab", "Made by keyboard");
    await page.keyboard.press("m");
    await page.getByRole("menu").waitFor();
    await to("ArrowDown", "Start agents on it");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await press("Start a run");
    await page.waitForURL(/\/runs\/run_/);

    await open("/settings?tab=budgets");
    await fill("Each run, USD", "5");
    await press("Save");
    await page.getByRole("status").getByText("Saved").waitFor();

    await open(`/projects/${ids.project}/graph`);
    await page.keyboard.press("/");
    await page.keyboard.type("withTax");
    await page
      .getByRole("list", { name: "Found symbols" })
      .getByRole("link", { name: /withTax/ })
      .waitFor();
    await press(/withTax/);
    await page.getByRole("heading", { name: "What a change reaches" }).waitFor();

    await open(`/memory/engineer?entry=${encodeURIComponent("decision/one-writer")}`);
    await press("Edit");
    await page.getByLabel("Content").waitFor();
    await fill("Content", "By keyboard. ");
    await press("Save");
    await page.getByRole("paragraph").getByText("By keyboard.").waitFor();

    await open("/tool-servers");
    await dialog("Add a server", "tickets");
    await page.keyboard.press("Escape");
    // Typed text is not lost without a question.
    await page.getByRole("alertdialog").waitFor();
    await press("Discard");
    // A closed dialog is hidden at once, and removed once the page knows.
    await page.locator("dialog[aria-label='Add a tool server']").waitFor({ state: "detached" });
    await back("Add a server");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("tickets");
    await fill("Address", "http://127.0.0.1:9/mcp");
    await press("Add");
    await heading("tickets");

    await open("/users");
    await dialog("Add a user", "ben@example.test");
    await fill(/^Password/, "a password of some length");
    await press("Add");
    await page.getByText("leads to the server from this machine alone").waitFor();
    await press("Done");
    await page.getByRole("table", { name: "Users" }).getByText("ben@example.test").waitFor();
    await back("Add a user");
    await close();
    expect([...faults, ...wrong]).toEqual([]);
  });

  test("what waits is counted in the title and in the navigation until it is answered", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    const waits = (await server.request<{ items: object[] }>("GET", "/v1/approvals")).body.items.length;
    const inbox = (count: number) => page.getByRole("link", { name: new RegExp(`^Inbox ?${count} waiting for you$`) });
    await open("/jobs");
    const body = { pipeline_id: "change", task_description: "Counted while it waits" };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body;
    await inbox(waits + 1).waitFor();
    await becomes(() => page.title(), `(${waits + 1}) Background work · Skep`);
    await open(`/runs/${id}`);
    await page.getByRole("heading", { name: "Counted while it waits" }).waitFor();
    await inbox(waits + 1).waitFor();
    await becomes(() => page.title(), `(${waits + 1}) Counted while it waits · Skep`);
    await server.request("POST", `/v1/runs/${id}/approve`, { body: { step_id: "confirm", approved: true } });
    await inbox(waits + 1).waitFor({ state: "detached" });
    await becomes(() => page.title(), `${waits > 0 ? `(${waits}) ` : ""}Counted while it waits · Skep`);
    await close();
    expect(faults).toEqual([]);
  });

  test("single keys that are switched off do nothing, and the palette still opens", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    const keys = page.getByRole("dialog", { name: "Keys" });
    await open("/account");
    const pressQuestionMark = async () => {
      await page.getByRole("heading", { name: "My account" }).click();
      await page.keyboard.press("?");
    };
    await page.getByLabel("Single-key shortcuts").uncheck();
    await pressQuestionMark();
    for (const key of ["g", "r", "n"]) await page.keyboard.press(key);
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Where to").waitFor();
    expect([await keys.count(), new URL(page.url()).pathname]).toEqual([0, "/account"]);
    await page.keyboard.press("Escape");
    await page.getByPlaceholder("Where to").waitFor({ state: "detached" });
    await page.getByLabel("Single-key shortcuts").check();
    await pressQuestionMark();
    await keys.waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("on a phone the navigation opens over the page, gives the focus back, and leads to the heading of another", async () => {
    const { page, close, open, faults } = await visit(browser, server.url, { viewport: PHONE, hasTouch: true });
    const drawer = page.getByRole("dialog", { name: "Navigation" });
    const button = page.getByRole("button", { name: "Navigation" });
    await open("/runs");
    await button.tap();
    await drawer.waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await becomes(async () => (await readFocus(page)).name, "Navigation");
    for (const name of ["Agents", "Runs"]) {
      await button.tap();
      if (name === "Agents") await drawer.getByText("Library").tap();
      await drawer.getByRole("link", { name, exact: true }).tap();
      await drawer.waitFor({ state: "hidden" });
      await page.getByRole("heading", { name, level: 1 }).and(page.locator(":focus")).waitFor();
    }
    await close();
    expect(faults).toEqual([]);
  });

  test("two editors of an agent: the second sees both versions and loses neither", async () => {
    const { page, close, open } = await visit(browser, server.url);
    await open("/agents/scribe");
    const box = page.getByLabel("Instructions");
    const rules = Array.from({ length: 40 }, (_, at) => `Rule ${at}.`).join("\n");
    await typeInto(box, `${rules}\nMy version of the instructions.`);
    const prompt = `${rules}\nTheir version of the instructions.`;
    await server.request("PUT", "/v1/agents/scribe/config", { body: { prompt } });
    await page.getByRole("button", { name: "Save" }).click();
    const both = page.getByRole("alert");
    await both.getByText("37 lines alike").waitFor();
    await both.getByText("Their version of the instructions.").waitFor();
    await both.getByText("My version of the instructions.").waitFor();
    await both.getByRole("button", { name: "Overwrite with mine" }).click();
    await both.waitFor({ state: "detached" });
    const { body } = await server.request<{ prompt: string }>("GET", "/v1/agents/scribe");
    expect(body.prompt.trim()).toBe(`${rules}\nMy version of the instructions.`);
    await close();
  });

  test("a pipeline's problems are shown at their lines, and nothing broken is saved", async () => {
    const { page, close, open } = await visit(browser, server.url);
    await open("/pipelines/checks");
    const editor = page.getByRole("textbox", { name: /^Text of/ });
    await editor.waitFor();
    await editor.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText("id: checks\nname: Checks\nsteps:\n  - id: a\n    agnt: engineer\n    input: x\n");
    await page.getByRole("status", { name: "Problems" }).getByText("line", { exact: false }).first().waitFor();
    await becomes(() => page.getByRole("button", { name: "Save" }).isDisabled(), true);
    await close();
  });

  test("two tabs share one stream, and both follow", async () => {
    const context = await browser.newContext();
    const [one, two] = [await context.newPage(), await context.newPage()];
    for (const page of [one, two]) {
      await page.goto(`${server.url}/runs`);
      await page.getByRole("table", { name: "Runs" }).waitFor();
    }
    const readers = async () =>
      (await server.request<{ broker: { subscribers: number } }>("GET", "/v1/status")).body.broker.subscribers;
    expect(await readers()).toBeGreaterThan(0);
    await server.request("POST", "/v1/runs", {
      body: { pipeline_id: "checks", task_description: "Seen in both tabs" },
    });
    for (const page of [one, two]) await page.getByText("Seen in both tabs").first().waitFor();
    await context.close();
  });

  test("what happens before the stream is open is shown as well", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const happened = Promise.withResolvers<void>();
    await page.route("**/v1/events/stream*", async (route) => {
      await happened.promise;
      await route.continue();
    });
    await page.goto(`${server.url}/runs`);
    await page.getByRole("table", { name: "Runs" }).waitFor();
    const body = { pipeline_id: "checks", task_description: "Over before the stream" };
    const { body: run } = await server.request<{ id: string }>("POST", "/v1/runs", { body });
    await waitForRunEnd(server, undefined, run.id);
    happened.resolve();
    await page.getByText("Over before the stream").first().waitFor();
    await context.close();
  });

  test("a server that goes away is reported, and what happened meanwhile is there when it is back", async () => {
    const data = mkdtempSync(join(tmpdir(), "skep-away-"));
    const first = await startServer({ env: dashboard().env, data });
    const { page, close, open } = await visit(browser, first.url);
    await open("/runs");
    const port = new URL(first.url).port;
    await first.stop();
    await page.getByText("The server does not answer. What you see may be old").waitFor();
    const second = await startServer({ env: { ...dashboard().env, PORT: port }, data });
    await second.request("POST", "/v1/runs", { body: { pipeline_id: "hello", task_description: "Started meanwhile" } });
    await page.getByText("The server does not answer. What you see may be old").waitFor({ state: "detached" });
    await page.getByText("Started meanwhile").first().waitFor();
    await close();
    await second.remove();
  });
});
