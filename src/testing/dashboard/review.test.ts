/** Review, usage, activity and the audit log in a browser, with keys and a mouse. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { RunComment } from "../../feature/reviews/comment-model.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { commitManyFiles } from "./many-files.ts";
import { PHONE, type Visitor, visit, WINDOW } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

const FILES = 2_000;
/** Window widths at which no page may scroll sideways. */
const WIDTHS = [360, 768, 1280];

describe.skipIf(!hasBrowser())("a review", () => {
  const dashboard = withDashboard();
  beforeAll(() => {
    const { server, ids } = dashboard();
    commitManyFiles(server.data, ids.project, ids.rival, FILES);
  });
  /** Checks the page at every width, and the accessibility rules at the widest. */
  async function expectSound({ page, overflow, axe, waitUntilSettled }: Visitor): Promise<void> {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await waitUntilSettled();
      expect([page.url(), width, await overflow()]).toEqual([page.url(), width, 0]);
    }
    expect(await axe()).toEqual([]);
  }

  test("code has its colors, a changed line the words that were changed, a new file the full width", async () => {
    const { server, browser, ids } = dashboard();
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    await open(`/runs/${ids.changed}?tab=changes&view=split`);
    const cart = page.getByRole("region", { name: "src/cart.ts" });
    await cart.locator(".tok-keyword", { hasText: "class" }).first().waitFor();
    // Only the changed word is marked, on the side where it is new.
    const marked = cart.locator("[data-side='1'] .bg-ok-mark");
    await marked.first().waitFor();
    expect((await marked.first().textContent())?.trim()).toBe("readonly");
    const added = page.getByRole("region", { name: /discount-by-percentage\.test\.ts/ });
    await added.locator("[data-code]").first().waitFor();
    expect(await added.locator("[data-side]").count()).toBe(0);
    await expectSound(visitor);
    // A line that was scrolled to stays in place, because a press aims at it. The window is low, so that most lines are
    // out of sight.
    await page.setViewportSize({ width: 1280, height: 150 });
    const moved = await page.evaluate(`(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const moved = [];
      for (const line of document.querySelectorAll("main [data-comment]")) {
        line.scrollIntoView({ block: "nearest", behavior: "instant" });
        const before = line.getBoundingClientRect().top;
        for (let at = 0; at < 3; at++) await frame();
        const by = line.getBoundingClientRect().top - before;
        if (Math.abs(by) > 0.5) moved.push(line.getAttribute("aria-label") + " moved by " + by + " px");
        scrollTo({ top: scrollY < 1 ? document.documentElement.scrollHeight : 0, behavior: "instant" });
        await frame();
      }
      return moved;
    })()`);
    expect(moved).toEqual([]);
    // The chosen view applies to every run.
    await page.setViewportSize(WINDOW);
    await open(`/runs/${ids.changed}?tab=changes`);
    await page.getByRole("button", { name: "Unified" }).click();
    await page.getByRole("button", { name: "Side by side" }).waitFor();
    await open(`/runs/${ids.changed}?tab=changes`);
    await page.getByRole("button", { name: "Side by side" }).click();
    await page.getByRole("button", { name: "Unified" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("two thousand files are a tree: filtered, walked by keys, each opened alone and left again", async () => {
    const { server, browser, ids } = dashboard();
    const visitor = await visit(browser, server.url);
    const { page, close, faults } = visitor;
    // The names of all files arrive after the first files with their lines.
    const held = Promise.withResolvers<void>();
    await page.route("**/diff/files*", (route) => held.promise.then(() => route.continue()));
    await page.goto(`${server.url}/runs/${ids.rival}?tab=changes`);
    await page.getByText("2,001 files").first().waitFor();
    const tree = page.getByRole("tree", { name: "Files" });
    await page.locator("[data-file]").first().waitFor();
    expect(await tree.getByRole("treeitem").count()).toBe(0);
    held.resolve();
    await tree.getByRole("treeitem").first().waitFor();
    // Only what is in sight is rendered.
    expect(await tree.getByRole("treeitem").count()).toBeLessThan(100);
    const end = page.getByRole("treeitem", { name: /cart\.ts/ });
    await tree.getByRole("treeitem").first().focus();
    await page.keyboard.press("End");
    await end.waitFor();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await tree.getByRole("treeitem", { expanded: false }).waitFor();
    await page.keyboard.press("ArrowRight");
    await typeInto(page.getByLabel("Filter files"), "part7 file1987");
    await page.getByText("1 file", { exact: true }).waitFor();
    await tree.getByRole("treeitem", { name: /file1987/ }).click();
    const one = page.getByRole("region", { name: "packages/part7/src/file1987.ts" });
    await one.getByText("export const value1987 = 1987;").waitFor();
    // No field has the focus, so the key leads to the next file in the list.
    await one.locator("[data-row]").focus();
    await page.keyboard.press("n");
    await page.getByText(/^File [\d,]+ of 2,001$/).waitFor();
    await one.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "All files" }).click();
    await page.getByRole("button", { name: "Show more of 2,001 files" }).waitFor();
    await expectSound(visitor);
    await close();
    expect(faults).toEqual([]);
  });

  test("a comment has the agent's answer below it, and the thread goes on there; a selection that ends outside drops nothing", async () => {
    const { server, browser, ids } = dashboard();
    const path = `/v1/runs/${ids.changed}/comments`;
    const comment = { path: "src/cart.ts", line: 6, body: "Start with a hundredth." };
    const { body } = await server.request<RunComment>("POST", path, { body: comment });
    const db = new Database(join(server.data, "skep.db"));
    const at = new Date().toISOString();
    db.prepare(
      "UPDATE change_comments SET sent_at = ?, answered_at = ?, answered_by = 'engineer', answer = 'It is a **hundredth** now.' WHERE id = ?",
    ).run(at, at, body.id);
    db.close();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.changed}?tab=changes&view=unified`);
    const cart = page.getByRole("region", { name: "src/cart.ts" });
    await cart.getByText("Engineer", { exact: true }).waitFor();
    await cart.locator("strong", { hasText: "hundredth" }).waitFor();
    await cart.getByRole("button", { name: "Reply" }).click();
    const field = page.getByRole("textbox", { name: "Comment" });
    await typeInto(field, "Thanks. Then name it so.");
    // The mouse selects text and is released far outside of the field.
    const box = await field.boundingBox();
    if (!box) throw new Error("the field is not drawn");
    await page.mouse.move(box.x + 120, box.y + 14);
    await page.mouse.down();
    await page.mouse.move(box.x - 60, box.y - 200, { steps: 5 });
    await page.mouse.up();
    expect(await field.inputValue()).toBe("Thanks. Then name it so.");
    await page.getByRole("button", { name: "Keep the comment" }).click();
    await field.waitFor({ state: "detached" });
    await cart.getByText("Thanks. Then name it so.").waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("usage is stacked by what is chosen; a bar says its values under the mouse and at the keys", async () => {
    const { server, browser } = dashboard();
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    await open("/usage");
    const bars = page.getByRole("listbox", { name: /^Spend by day/ });
    await bars.focus();
    const chosen = bars.getByRole("option", { selected: true });
    const label = await chosen.getAttribute("aria-label");
    expect(label).toMatch(/^\w+ \d+: \$0, \d+ calls?/);
    await page.keyboard.press("ArrowLeft");
    expect(await chosen.getAttribute("aria-label")).not.toBe(label);
    const box = await bars.boundingBox();
    const last = await bars.getByRole("option", { name: label ?? "" }).boundingBox();
    if (!box || !last) throw new Error("the chart is not drawn");
    await page.mouse.move(last.x + last.width / 2, box.y + box.height / 2);
    await page
      .getByText(/^\d+ calls?$/)
      .first()
      .waitFor();
    const runs = page.getByRole("listbox", { name: /^Runs by outcome/ });
    await runs
      .getByRole("option", { name: /: [1-9]\d*, / })
      .first()
      .waitFor();
    await page.getByLabel("Stacked").selectOption("project");
    await page.waitForURL(/by=project/);
    await page.getByText("A run that succeeded").waitFor();
    await expectSound(visitor);
    await close();
    expect(faults).toEqual([]);
  });

  test("activity has one row for each fact, with agent, run and project by name; a day shows when agents worked", async () => {
    const { server, browser, ids } = dashboard();
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    await open("/activity?agent=engineer");
    const fact = page.getByRole("listitem").filter({ hasText: "finished step Write the code" });
    await fact.getByRole("link", { name: "Let a cart have a discount in per cent" }).waitFor();
    expect(await fact.count()).toBe(1);
    await fact.getByRole("link", { name: "shop" }).waitFor();
    expect(await page.getByText("Ended: succeeded").count()).toBe(0);
    await expectSound(visitor);
    await open("/activity?tab=day");
    const day = page.getByRole("listbox", { name: /^Agents over the day/ });
    await day.focus();
    await page.keyboard.press("End");
    await day.getByRole("option", { selected: true }).waitFor();
    const work = day.getByRole("option", { name: /^Engineer.*Let a cart have a discount/ });
    await work.waitFor();
    await expectSound(visitor);
    await work.click();
    await page.waitForURL((url) => url.pathname === `/runs/${ids.changed}`);
    await close();
    expect(faults).toEqual([]);
  });

  test("the audit log reads as sentences with names", async () => {
    const { server, browser } = dashboard();
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    await open("/system?tab=audit");
    const log = page.getByRole("table", { name: "Audit log" });
    await log.getByText("Local administrator granted the secret DEPLOY_TOKEN").waitFor();
    await log.getByText("Engineer was given secrets").first().waitFor();
    await log.getByText("approved step Confirm the plan of the run Quote names in every export").waitFor();
    await page.getByLabel("About").selectOption("pipeline");
    await log.getByText("Local administrator added the pipeline rival").waitFor();
    expect(await log.getByText("secrets").count()).toBe(0);
    // Of a long list the browser draws only what is in sight. Further rows are separate tables with the same columns.
    const db = new Database(join(server.data, "skep.db"));
    const insert = db.prepare(
      "INSERT INTO audit (id, at, actor, action, subject, data) VALUES (?, '2020-01-01T00:00:00.000Z', 'local', 'agent.created', 'old', '{}')",
    );
    db.transaction(() => {
      for (let n = 0; n < 260; n++) insert.run(`aud_${String(n).padStart(4, "0")}`);
    })();
    db.close();
    await page.getByLabel("About").selectOption("agent");
    const further = page.getByRole("table", { name: "Audit log, from row 101" });
    for (let shown = 50; shown <= 200; shown += 50) {
      await log
        .locator("tbody tr")
        .nth(shown - 1)
        .waitFor();
      await page.getByRole("button", { name: "Show more" }).click();
    }
    await further.getByText("added the agent old").first().waitFor();
    const [first, second, drawn] = (await page.evaluate(`(() => {
      const tables = [...document.querySelectorAll("main table")];
      const edges = (table) => [...table.tBodies[0].rows[0].cells].map((cell) => Math.round(cell.getBoundingClientRect().left));
      return [edges(tables[0]), edges(tables[1]), getComputedStyle(tables[1].parentElement).contentVisibility];
    })()`)) as [number[], number[], string];
    expect(second).toEqual(first);
    expect([
      drawn,
      await page.getByRole("table", { name: "Audit log", exact: true }).locator("tbody tr").count(),
    ]).toEqual(["auto", 50]);
    await expectSound(visitor);
    await close();
    expect(faults).toEqual([]);
  });

  test("the map has the colors of what a run changed, and the list its symbols", async () => {
    const { server, browser, ids } = dashboard();
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    await open(`/runs/${ids.changed}?tab=changes`);
    await page.getByRole("link", { name: "On the map" }).click();
    await page.getByText(/symbols in 5 changed files of/).waitFor();
    const list = page.getByRole("list", { name: "Matches" });
    await list.getByText("Cart", { exact: true }).waitFor();
    expect(await list.getByText("withTax").count()).toBe(0);
    await expectSound(visitor);
    await page.getByRole("button", { name: "All colors" }).click();
    await page.getByRole("list", { name: "Clusters" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("on a phone a run is merged with one touch, and the page says so", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url, { viewport: PHONE, hasTouch: true });
    await open(`/runs/${ids.changed}?tab=changes`);
    await page.getByRole("button", { name: "Merge into main" }).tap();
    await page.getByText(/merged into main as/).waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
