/** In a browser: the question before a run and a chat are deleted, keeping them from retention, the Disk page, and the schedule of backups. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Browser } from "playwright-core";
import { waitForRunEnd } from "../attacks/held-run.ts";
import { waitFor } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("history", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-delete-history-"));
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    const script = join(folder, "script.json");
    const done = { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "Done." } }] };
    writeFileSync(script, JSON.stringify({ version: 1, steps: { work: [done] }, chat: [{ text: "I heard you." }] }));
    [server, browser] = await Promise.all([startServer({ env: { DEMO_SCRIPT: script } }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a run and a chat are kept from retention, and let go, by mouse and by keys; another tab follows", async () => {
    const steps = [{ id: "work", agent: "scribe", input: "{{ task_description }}" }];
    const model = { defaults: { model: "demo/scripted" } };
    await server.request("POST", "/v1/pipelines", { body: { id: "kept", name: "Kept", ...model, steps } });
    const begun = { pipeline_id: "kept", task_description: "A task that stays." };
    const run = (await server.request<{ id: string }>("POST", "/v1/runs", { body: begun })).body.id;
    await waitForRunEnd(server, undefined, run);
    const isKept = async (id: string) =>
      (await server.request<{ items: unknown[] }>("GET", `/v1/kept-history?id=${id}`)).body.items.length === 1;
    const { page, open, axe, close, faults } = await visit(browser, server.url);
    const findButton = (name: string) => page.getByRole("button", { name, exact: true });
    const stays = page.getByText("It stays, whatever the settings for retention say.");

    await open(`/runs/${run}`);
    const other = await page.context().newPage();
    await other.goto(`${server.url}/runs/${run}`);
    await other.getByRole("button", { name: "Keep", exact: true }).waitFor();
    await page.bringToFront();
    await findButton("Keep").click();
    await stays.waitFor();
    await findButton("Kept").waitFor();
    expect(await isKept(run)).toBe(true);
    expect(await axe()).toEqual([]);
    await other.bringToFront();
    await other.getByRole("button", { name: "Kept", exact: true }).waitFor();
    await other.close();
    await findButton("Undo").click();
    await findButton("Keep").waitFor();
    expect(await isKept(run)).toBe(false);
    await page.keyboard.press("Control+k");
    await typeInto(page.getByPlaceholder("Where to"), "keep the run");
    await page.getByRole("option", { name: "Keep the run" }).and(page.locator("[aria-selected=true]")).waitFor();
    await page.keyboard.press("Enter");
    await findButton("Kept").waitFor();
    await findButton("Kept").press("Enter");
    await findButton("Keep").waitFor();
    expect(await isKept(run)).toBe(false);

    const made = { agent_id: "scribe", model: "demo/scripted" };
    const chat = (await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body: made })).body.id;
    await open(`/chat/${chat}`);
    await findButton("More").click();
    await page.getByRole("menuitem", { name: "Keep the chat" }).click();
    await findButton("Kept").waitFor();
    expect(await isKept(chat)).toBe(true);
    expect(await axe()).toEqual([]);
    await findButton("More").press("Enter");
    await page.getByRole("menuitem", { name: "Rename" }).press("ArrowDown");
    await page.getByRole("menuitem", { name: "Stop keeping the chat" }).press("Enter");
    await findButton("Kept").waitFor({ state: "detached" });
    expect(await isKept(chat)).toBe(false);
    await close();
    expect(faults).toEqual([]);
  });

  test("a run and a chat are deleted after saying what goes; the disk is measured, and says what goes by age", async () => {
    const steps = [{ id: "work", agent: "scribe", input: "{{ task_description }}" }];
    await server.request("POST", "/v1/pipelines", {
      body: { id: "work", name: "Work", defaults: { model: "demo/scripted" }, steps },
    });
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    const dialog = page.getByRole("dialog");
    const findButton = (name: string) => page.getByRole("button", { name, exact: true });

    await open("/runs/new");
    await page.getByLabel("Pipeline").selectOption("work");
    await typeInto(page.getByLabel("Task"), "A task that goes.");
    await findButton("Start").click();
    await page.waitForURL(/\/runs\/run_/);
    await page.locator("header").getByText("Succeeded").first().waitFor();

    await open("/system?tab=disk");
    await page.getByText("The disk was never measured.").waitFor();
    await findButton("Measure now").click();
    await page.getByRole("table", { name: "Kinds" }).waitFor();
    await page.getByText("Runs: kept forever").waitFor();
    expect(await visitor.axe()).toEqual([]);
    await page.getByRole("table", { name: "Largest runs and chats" }).getByRole("link").first().click();
    await page.waitForURL(/\/runs\/run_/);

    await findButton("Delete").click();
    await dialog.getByText(/1 run, 1 transcript/).waitFor();
    await dialog.getByText("What it cost", { exact: false }).waitFor();
    expect(await visitor.axe()).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await findButton("Delete").click();
    await dialog.getByRole("button", { name: "Delete everything" }).click();
    await page.getByText("It is being deleted. Jobs shows how far that is.").waitFor();
    await page.waitForURL(/\/runs$/);

    const chat = await server.request<{ id: string }>("POST", "/v1/chat/sessions", {
      body: { agent_id: "scribe", model: "demo/scripted" },
    });
    await open(`/chat/${chat.body.id}`);
    await typeInto(page.getByRole("textbox", { name: "Message", exact: true }), "Words that go.");
    await page.keyboard.press("Enter");
    await page.getByText("I heard you.").waitFor();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: /^Delete/ }).click();
    await dialog.getByText(/1 transcript, 2 messages/).waitFor();
    await dialog.getByRole("button", { name: "Delete everything" }).click();
    await page.getByText("It is being deleted. Jobs shows how far that is.").waitFor();
    await page.waitForURL(/\/chat$/);
    await close();
    // The chat's page may have requested it once more before it was left.
    expect(faults.filter((fault) => !/404/.test(fault))).toEqual([]);
  });

  test("a schedule of backups is typed; its page shows the next, and Home tells that one failed", async () => {
    const target = join(folder, "target");
    mkdirSync(target);
    let visitor = await visit(browser, server.url);
    await visitor.open("/settings?tab=backup");
    await typeInto(visitor.page.getByLabel("When"), "0 0 * * *");
    await typeInto(visitor.page.getByLabel("Folder"), target);
    await visitor.page.getByRole("button", { name: "Save" }).click();
    await visitor.page.getByText("Saved.").waitFor();
    await visitor.open("/system?tab=backups");
    await visitor.page.getByText("0 0 * * * UTC").waitFor();
    await visitor.page.getByText("None yet").waitFor();
    expect(await visitor.axe()).toEqual([]);
    await visitor.close();
    expect(visitor.faults).toEqual([]);

    await server.stop();
    rmSync(target, { recursive: true });
    const db = new Database(join(server.data, "skep.db"));
    const missed = { schedule: "0 0 * * * UTC", since: 0, tried_at: null, succeeded_at: null, error: null };
    db.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES ('backup_schedule', ?)").run(JSON.stringify(missed));
    db.close();
    server = await startServer({ data: server.data });
    const error = async () =>
      (await server.request<{ error: unknown }>("GET", "/v1/admin/backup-schedule")).body.error !== null;
    await waitFor(error, "the backup to fail");
    visitor = await visit(browser, server.url);
    await visitor.open("/");
    await visitor.page.getByText(/The scheduled backup failed: There is no folder/).waitFor();
    await visitor.page.getByRole("main").getByRole("link", { name: "Backups" }).click();
    await visitor.page.getByText(/The scheduled backup failed: There is no folder/).waitFor();
    await visitor.close();
    expect(visitor.faults).toEqual([]);
  });
});
