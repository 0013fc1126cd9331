/** A board in a browser: cards moved by mouse, menu and touch, limits, agents that are started only when asked, policy. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Task } from "../../feature/tasks/model.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { PHONE, visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("a board", () => {
  const dashboard = withDashboard();
  const tasks = async () => {
    const { server, ids } = dashboard();
    return (await server.request<{ items: Task[] }>("GET", `/v1/projects/${ids.project}/tasks?limit=200`)).body.items;
  };
  const statusOf = async (title: string) => (await tasks()).find((one) => one.title === title)?.status;
  const column = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const LONG = /^A rather long title/;

  test("a card is dragged to another column and by its menu to a third; a full column refuses, and is overruled", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, waitUntilSettled, faults } = await visit(browser, server.url);
    await open("/board");
    const docs = "Say in the manual how exports quote";
    await column(page, "Backlog").getByRole("article", { name: docs }).waitFor();
    await waitUntilSettled();
    const [from, to] = await Promise.all([
      column(page, "Backlog").getByRole("article", { name: docs }).boundingBox(),
      column(page, "Ready").boundingBox(),
    ]);
    await page.mouse.move(from!.x + 20, from!.y + 10);
    await page.mouse.down();
    await page.mouse.move(from!.x + 60, from!.y + 20, { steps: 4 });
    await page.mouse.move(to!.x + 80, to!.y + to!.height - 12, { steps: 12 });
    await page.mouse.up();
    await column(page, "Ready").getByRole("article", { name: docs }).waitFor();
    // The card is shown there before the server has answered.
    await becomes(() => statusOf(docs), "ready");
    // By keyboard: through the card's menu.
    await column(page, "Ready").getByRole("link", { name: docs }).focus();
    await page.keyboard.press("m");
    await page.getByRole("menuitem", { name: "To Review" }).click();
    await page.getByRole("alert").getByText("holds 1 task, its limit").waitFor();
    await column(page, "Ready").getByRole("article", { name: docs }).waitFor();
    await page.getByRole("button", { name: "Move it anyway" }).click();
    await column(page, "Review").getByRole("article", { name: docs }).waitFor();
    await column(page, "Review").getByText("2 of 1").waitFor();
    await close();
    expect(faults.filter((fault) => !/409/.test(fault))).toEqual([]);
  });

  test("putting a card into progress asks; agents start only on yes, and the card follows their run", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/board");
    const card = column(page, "Backlog").getByRole("article", { name: LONG });
    await card.getByRole("button", { name: /^Move/ }).click();
    await page.getByRole("menuitem", { name: "To In progress" }).click();
    await page.getByRole("dialog").getByText("implement: engineer").waitFor();
    await page.getByRole("button", { name: "Only move it" }).click();
    await column(page, "In progress").getByRole("article", { name: LONG }).waitFor();
    expect((await tasks()).filter(({ run_id }) => run_id !== null)).toEqual([]);
    await page.getByRole("button", { name: "New task" }).click();
    await typeInto(page.getByRole("textbox", { name: "Title" }), "Tell customers about discounts");
    await page.getByLabel("Kind of work").selectOption("docs");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const fresh = page.getByRole("article", { name: "Tell customers about discounts" });
    await fresh.getByRole("button", { name: /^Move/ }).click();
    await page.getByRole("menuitem", { name: "Start agents on it" }).click();
    await page.getByRole("button", { name: "Start a run" }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.locator("header").getByText("Succeeded").waitFor();
    await open("/board");
    await column(page, "Done").getByRole("link", { name: "Tell customers about discounts" }).click();
    await page.getByRole("table", { name: "Runs" }).getByText("Tell customers").waitFor();
    await page
      .getByText(/Ready → |In progress → /)
      .first()
      .waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a task says what it waits for, is edited and moved from its page; the policy is changed and kept", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/projects/${ids.project}/tasks/${ids.task}`);
    await page.getByRole("region", { name: "Depends on" }).getByText("Quote names in every export").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await typeInto(page.getByLabel("Title"), "Export reports as CSV, quoted");
    const others = page.getByRole("list", { name: "Depends on" });
    await others.getByText("Quote names in every export").waitFor();
    await typeInto(page.getByRole("searchbox", { name: "Depends on" }), "manual how exports");
    // Typed without looking at the answer, as by a person who knows the title.
    await page.keyboard.press("Enter");
    await others.getByText("Say in the manual how exports quote").waitFor();
    await page.getByRole("button", { name: "Do not wait for Quote names in every export" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Export reports as CSV, quoted" }).waitFor();
    await page.getByRole("region", { name: "Depends on" }).getByText("Say in the manual how exports quote").waitFor();
    expect(await page.getByRole("region", { name: "Depends on" }).getByText("Quote names").count()).toBe(0);
    await page.getByRole("button", { name: "Backlog" }).click();
    await page.getByText("Ready → ").waitFor();
    await open(`/projects/${ids.project}/policy`);
    await page.getByRole("button", { name: /^Bugfix/ }).click();
    await page.getByRole("button", { name: "Add a stage" }).click();
    await typeInto(page.getByLabel("Name of the stage"), "mend");
    await page.getByLabel("Who does mend").selectOption("agent:engineer");
    await page.getByRole("button", { name: "Save the policy" }).click();
    await page.getByText("Saved.").waitFor();
    const path = `/v1/projects/${ids.project}/workflow-policy`;
    const { body } = await server.request<{ rules: Record<string, unknown> }>("GET", path);
    expect(body.rules["bugfix"]).toEqual([{ stage: "mend", disposition: "required", agent_id: "engineer" }]);
    expect(body.rules["docs"]).toBeDefined();
    await close();
    expect(faults).toEqual([]);
  });

  test("the tasks of all projects are on one board, each moved within its own project's columns", async () => {
    const { server, browser } = dashboard();
    const other = await server.request<{ id: string }>("POST", "/v1/projects", { body: { name: "garden" } });
    const path = `/v1/projects/${other.body.id}`;
    const { body: made } = await server.request<Task>("POST", `${path}/tasks`, {
      body: { title: "Water the beds", status: "ready" },
    });
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/board");
    await page.getByLabel("Project").selectOption("All projects");
    const card = column(page, "Ready").getByRole("article", { name: "Water the beds" });
    await card.getByText("garden").waitFor();
    await page.getByRole("article").getByText("shop", { exact: true }).first().waitFor();
    expect(await page.getByRole("button", { name: "New task" }).count()).toBe(0);
    await card.getByRole("link").focus();
    await page.keyboard.press("m");
    await page.getByRole("menuitem", { name: "To Backlog" }).click();
    await column(page, "Backlog").getByRole("article", { name: "Water the beds" }).waitFor();
    await becomes(async () => (await server.request<Task>("GET", `${path}/tasks/${made.id}`)).body.status, "backlog");
    // The next visit opens the same board.
    await open("/board");
    await column(page, "Backlog").getByRole("article", { name: "Water the beds" }).waitFor();
    await server.request("DELETE", `${path}`);
    await close();
    expect(faults).toEqual([]);
  });

  test("on a phone a column takes most of the screen and the next one shows at its edge; a thousand tasks are shown", async () => {
    const { server, browser, ids } = dashboard();
    const many = Array.from({ length: 1_000 }, (_, at) => ({ title: `Imported ${at}`, status: "backlog" }));
    const job = await server.request<{ id: string }>("POST", `/v1/projects/${ids.project}/tasks/import`, {
      body: { tasks: many },
    });
    expect(job.status).toBe(202);
    const { page, close, open, overflow, faults } = await visit(browser, server.url, {
      viewport: PHONE,
      hasTouch: true,
    });
    await open("/board");
    const backlog = column(page, "Backlog");
    await backlog.getByText("Imported 900").waitFor({ state: "attached" });
    const [box, next] = await Promise.all([backlog.boundingBox(), column(page, "Ready").boundingBox()]);
    expect(box!.width).toBeGreaterThan(PHONE.width * 0.8);
    expect(next!.x).toBeGreaterThanOrEqual(box!.x + box!.width);
    // Enough of it is visible to be seen and pulled with a finger.
    expect(PHONE.width - next!.x).toBeGreaterThanOrEqual(24);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await close();
    expect(faults).toEqual([]);
  });
});
