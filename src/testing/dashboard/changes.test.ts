/** A run's changes in a browser: read, commented on, sent back, merged, and in conflict. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { RunComment } from "../../feature/reviews/comment-model.ts";
import type { Run } from "../../feature/runs/model.ts";
import { readUntil } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { PHONE, visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

/** Stores what a delivery of the code host would leave. */
function reviewOnHost(data: string, run: string): void {
  const db = new Database(join(data, "skep.db"));
  db.prepare(
    `INSERT INTO change_comments (id, run_id, side, body, codehost_login, codehost_id, url, created_at)
     VALUES ('cmt_host', ?, 'new', 'Mind the tests.', 'alice', 'review-1', 'https://host.test/pulls/1', '2026-01-01T00:00:00.000Z')`,
  ).run(run);
  db.close();
}

describe.skipIf(!hasBrowser())("a run's changes", () => {
  const dashboard = withDashboard();
  const get = async (id: string) => (await dashboard().server.request<Run>("GET", `/v1/runs/${id}`)).body;

  test("files are read and marked, comments at lines outlive a reload and go back to the agents", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.changed}?tab=changes`);
    const cart = page.getByRole("region", { name: "src/cart.ts" });
    await cart.getByText("private percent = 0;").waitFor();
    const lock = page.getByRole("region", { name: "package-lock.json" });
    expect(await lock.getByText("lockfileVersion").count()).toBe(0);
    await lock.getByRole("button", { name: "Show it" }).click();
    await lock.getByText("lockfileVersion").waitFor();
    // By keyboard: the first file, the second file, mark as read.
    await page.keyboard.press("n");
    await page.keyboard.press("n");
    await page.keyboard.press("v");
    await page.getByText("1 viewed").waitFor();
    await cart.getByRole("button", { name: "Comment on line 6" }).first().click();
    await page.keyboard.press("Control+Enter");
    await page.getByText("Write the comment first.").waitFor();
    await typeInto(page.getByRole("textbox", { name: "Comment" }), "Start with a hundredth, not a float.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("textbox", { name: "Comment" }).waitFor({ state: "detached" });
    await cart.getByText("Start with a hundredth, not a float.").waitFor();
    // Another user who sees the run reads it. Their comment appears here without a reload.
    const path = `/v1/runs/${ids.changed}/comments`;
    const { items } = (await server.request<{ items: RunComment[] }>("GET", path)).body;
    expect(items).toMatchObject([{ path: "src/cart.ts", line: 6, side: "new", codehost_login: null }]);
    const file = { path: "src/cart.ts", body: "Is this file needed?" };
    expect((await server.request("POST", path, { body: file })).status).toBe(201);
    const others = page.getByRole("region", { name: "Comments" });
    await others.getByText("Is this file needed?").waitFor();
    await others.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the comment" }).click();
    await others.waitFor({ state: "detached" });
    reviewOnHost(server.data, ids.changed);
    await page.reload();
    await others.getByText("alice on the code host").waitFor();
    expect(await others.getByRole("link", { name: "Open" }).getAttribute("href")).toBe("https://host.test/pulls/1");
    expect(await others.getByRole("button").count()).toBe(0);
    await cart.getByText("Start with a hundredth, not a float.").waitFor();
    await page.getByText("1 viewed").waitFor();
    await page.getByRole("button", { name: "Send back (2)" }).click();
    await typeInto(page.getByLabel("Message"), "Nearly there.");
    await page.getByRole("dialog").getByRole("button", { name: "Send back" }).click();
    await page.getByRole("log").waitFor();
    const { task_description, restarted_from } = await get(ids.changed);
    expect(restarted_from).toBe("implement");
    for (const part of [
      "Nearly there.",
      "src/cart.ts:6",
      "percent = 0",
      "Start with a hundredth",
      'author="alice"',
      "Mind the tests.",
    ])
      expect(task_description).toContain(part);
    await page.locator("header").getByText("Succeeded").waitFor();
    await open(`/runs/${ids.changed}?tab=changes`);
    await page.getByRole("button", { name: "Send back", exact: true }).waitFor();
    // A comment that was sent back stays at its line while the line is unchanged.
    await page.getByText("Sent to the agents").first().waitFor({ state: "attached" });
    await close();
    expect(faults).toEqual([]);
  });

  test("a run is merged with a strategy; one in conflict with it moves nothing, names the places and leads on", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    const merge = async (run: string, strategy: string) => {
      await open(`/runs/${run}?tab=changes`);
      await page.getByRole("button", { name: "Merge another way" }).click();
      await page.getByLabel("How").selectOption(strategy);
      await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
    };
    await merge(ids.changed, "squash");
    await page.getByText(/merged into main as/).waitFor();
    expect((await get(ids.changed)).merged_into).toBe("main");
    await merge(ids.rival, "merge");
    const report = page.getByRole("alert");
    await report.getByText("src/cart.ts").click();
    await report.getByText(/bigint/).waitFor();
    expect((await get(ids.rival)).merged_into).toBe(null);
    await report.getByRole("button", { name: "Start a run that solves it" }).click();
    await page.getByRole("heading", { name: "Start a run" }).waitFor();
    const task = () => page.getByLabel("Task").inputValue();
    const work = "solve the conflicts in src/cart.ts";
    expect(await readUntil(task, (text) => text.includes(work))).toContain(work);
    // A task may be long or private, so it is in no address.
    expect(page.url()).toBe(`${server.url}/runs/new?again=${ids.rival}`);
    await close();
    expect(faults.filter((fault) => !/409/.test(fault))).toEqual([]);
  });

  test("what is copied from a change is code alone", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await page.addInitScript(
      `addEventListener("copy", (event) => { window.copied = event.clipboardData.getData("text/plain"); });`,
    );
    await open(`/runs/${ids.rival}?tab=changes&view=unified`);
    const code = page.getByRole("region", { name: "src/cart.ts" }).locator("[data-code]");
    const [first, last] = [await code.first().boundingBox(), await code.nth(4).boundingBox()];
    if (!first || !last) throw new Error("the lines are not drawn");
    await page.mouse.move(first.x + 1, first.y + 8);
    await page.mouse.down();
    await page.mouse.move(last.x + last.width, last.y + 8, { steps: 6 });
    await page.mouse.up();
    await page.keyboard.press("Control+c");
    const lines = await code.allTextContents();
    expect(await page.evaluate("window.copied")).toBe(lines.slice(0, 5).join("\n"));
    await close();
    expect(faults).toEqual([]);
  });

  test("on a phone the lines are below each other and nothing scrolls sideways", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, overflow } = await visit(browser, server.url, { viewport: PHONE, hasTouch: true });
    await open(`/runs/${ids.rival}?tab=changes`);
    await page.getByRole("button", { name: "Side by side" }).waitFor();
    await page.getByRole("region", { name: "src/cart.ts" }).getByText("bigint").waitFor();
    expect(await overflow()).toBeLessThanOrEqual(0);
    await close();
  });
});
