/**
 * What people come for, with the number of clicks that it takes. Keys are not counted, nor clicks into a field to write
 * in it.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

/** Counts mouse clicks; clicks that a key causes have no detail. */
const COUNT = `{
  const name = "clicks of this walk";
  addEventListener("click", (event) => {
    if (event.isTrusted && event.detail > 0 && !event.target.closest("input, textarea")) sessionStorage.setItem(name, String(Number(sessionStorage.getItem(name)) + 1));
  }, true);
}`;
const takeClicks = (page: Page) =>
  page.evaluate(`{
    const name = "clicks of this walk";
    const many = Number(sessionStorage.getItem(name));
    sessionStorage.removeItem(name);
    many;
  }`);

describe.skipIf(!hasBrowser())("the main jobs", () => {
  const dashboard = withDashboard();

  test("the ten that people come for take no more clicks than they may", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await page.addInitScript(COUNT);
    const button = (name: string | RegExp) =>
      page.getByRole("button", { name, ...(name instanceof RegExp ? {} : { exact: true }) });
    const taken: Record<string, unknown> = {};
    const job = async (name: string, path: string, work: () => Promise<void>) => {
      await open(path);
      await takeClicks(page);
      await work();
      taken[name] = await takeClicks(page);
    };

    await job("answer a question", "/", async () => {
      await button("Approve").first().click();
      await page.getByText("Approved. The run continues.").waitFor();
    });
    await job("send back with a comment", `/runs/${ids.changed}?tab=changes&view=unified`, async () => {
      await page
        .getByRole("region", { name: "src/cart.ts" })
        .getByRole("button", { name: "Comment on line 6" })
        .click();
      await typeInto(page.getByRole("textbox", { name: "Comment" }), "Start with a hundredth.");
      await page.keyboard.press("Control+Enter");
      await button("Send back (1)").click();
      await page.getByRole("dialog").getByRole("button", { name: "Send back" }).click();
      await page.getByText("Sent back. The agents work on the comments.").waitFor();
    });
    await page.locator("header").getByText("Succeeded").first().waitFor();
    await job("review and merge", `/runs/${ids.changed}`, async () => {
      await page
        .getByRole("link", { name: /^(Review \d+ files?|Changes)/ })
        .first()
        .click();
      await button(/^Merge into main/).click();
      await page
        .getByText(/merged into main as/)
        .first()
        .waitFor();
    });
    // This browser has no choices yet, so the form proposes what was started last on any device.
    const newest = await server.request<{ items: { pipeline_id: string }[] }>("GET", "/v1/runs?limit=1");
    await job("start a run", "/", async () => {
      await page.getByRole("link", { name: "Start a run" }).first().click();
      await becomes(() => page.getByLabel("Pipeline").inputValue(), newest.body.items[0]?.pipeline_id);
      await typeInto(page.getByLabel("Task"), "Say hello to the shop.");
      await button("Start").click();
      await page.waitForURL(/\/runs\/run_/);
    });
    await job("invite somebody", "/", async () => {
      await page.keyboard.press("Control+k");
      await typeInto(page.getByPlaceholder("Where to"), "invite");
      await page.getByRole("option", { name: "Invite a user" }).click();
      await typeInto(page.getByLabel("E-mail"), "ben@example.test");
      await typeInto(page.getByLabel("Name"), "Ben");
      await typeInto(page.getByLabel("Password"), "a-long-pass-phrase");
      await button("Add").click();
      await page.getByText("They can log in now.").waitFor();
    });
    await job("restart what broke", "/", async () => {
      await page
        .getByRole("list", { name: "Broken since yesterday" })
        .getByRole("button", { name: /^Restart / })
        .first()
        .click();
      await page.getByRole("dialog", { name: "Restart the run" }).getByRole("button", { name: "Restart" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });
    await job("set a budget", "/usage", async () => {
      await page.getByRole("link", { name: "Set budgets" }).click();
      await typeInto(page.getByLabel("Everybody, a day, USD"), "25");
      await button("Save").click();
      await page.getByText("Saved.").first().waitFor();
    });
    await job("ask an agent", "/", async () => {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Chat", exact: true }).click();
      await button("New chat").first().click();
      await typeInto(page.getByLabel("First message"), "What does the shop sell?");
      await button("Start").click();
      await page.waitForURL(/\/chat\/sess_/);
    });
    await job("put agents on a task", "/board", async () => {
      await page.getByRole("article").getByRole("button", { name: /^Move/ }).first().click();
      await page.getByRole("menuitem", { name: "Start agents on it" }).click();
      await button("Start a run").click();
      await page.waitForURL(/\/runs\/run_/);
    });
    await job("stop everything", "/", async () => {
      // The command moves in the list when Home's button for it appears.
      await button("Stop everything").first().waitFor();
      await page.keyboard.press("Control+k");
      await typeInto(page.getByPlaceholder("Where to"), "stop everything");
      // Home has a button for it, so it may be listed both for this page and globally.
      await page.getByRole("option", { name: /Stop everything/ }).click();
      await page.getByRole("dialog").getByRole("button", { name: /^Stop/ }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });
    expect(taken).toEqual({
      "answer a question": 1,
      "send back with a comment": 3,
      "review and merge": 2,
      "start a run": 2,
      "invite somebody": 2,
      "stop everything": 2,
      "restart what broke": 2,
      "set a budget": 2,
      "ask an agent": 3,
      "put agents on a task": 3,
    });
    await close();
    expect(faults).toEqual([]);
  });
});
