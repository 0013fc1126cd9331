/**
 * Typed text reaches the field that has the focus, and is not lost without a question. By keyboard and with a moving
 * mouse.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import type { TestServer } from "../server.ts";
import { readFocus, typeInto } from "./keyboard.ts";
import type { Seeded } from "./seed.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

const PALETTE = "Search and commands";

interface Limits {
  limits: { max_turns: number };
}

describe.skipIf(!hasBrowser())("typing", () => {
  const dashboard = withDashboard();
  let server: TestServer;
  let browser: Browser;
  let ids: Seeded;
  beforeAll(() => {
    ({ server, browser, ids } = dashboard());
  });
  const openPalette = async (page: Page) => {
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: PALETTE });
    await palette.waitFor();
    return palette;
  };
  /** The row that Enter would choose. */
  const first = (palette: Locator) => palette.locator("[role=option][aria-selected=true]");

  test("a key counts from the first sight of the page, and two belong together by when they were pressed", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    // Right after the navigation was added to the page, before it is painted: no person could be that fast.
    await page.addInitScript(`new MutationObserver((_, watch) => {
      const shown = document.querySelector("nav");
      if (!shown) return;
      watch.disconnect();
      shown.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    }).observe(document, { subtree: true, childList: true })`);
    await open("/");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    // The second key, pressed 0.2 s after the first, reaches a busy page later than the longest time between two keys.
    await page.evaluate(`addEventListener("keydown", ({ timeStamp }) => setTimeout(() => {
      const late = new KeyboardEvent("keydown", { key: "r", bubbles: true });
      Object.defineProperty(late, "timeStamp", { value: timeStamp + 200 });
      document.body.dispatchEvent(late);
    }, 3_000), { once: true })`);
    await page.keyboard.press("g");
    await page.getByRole("table", { name: "Runs" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a key that is pressed while the session, a page or its rows are loaded counts once they are there", async () => {
    const { page, close, faults } = await visit(browser, server.url);
    const gates = ["**/v1/auth/me", "**/assets/runs-page-*.js", /\/v1\/runs\?/].map((address) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      return { address, promise, open: resolve };
    });
    for (const { address, promise } of gates)
      await page.route(address, async (route) => {
        await promise;
        await route.continue();
      });
    const [session, script, rows] = gates;
    const loading = page.getByRole("status").filter({ hasText: "Loading" }).first();
    await page.goto(`${server.url}/agents`);
    await loading.waitFor();
    // The page does not know yet whether anybody is logged in.
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    session?.open();
    await page.waitForURL("**/runs");
    await loading.waitFor();
    await page.keyboard.press("j");
    script?.open();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await page.keyboard.press("j");
    rows?.open();
    const at = () => page.evaluate(`[...document.querySelectorAll("main [data-row]")].indexOf(document.activeElement)`);
    await becomes(at, 1);
    await close();
    expect(faults).toEqual([]);
  });

  test("a part whose script the browser drops once is there without loading the page again", async () => {
    const { page, close, open } = await visit(browser, server.url);
    let dropped = 0;
    await page.route(/assets\/palette-/, (route) =>
      dropped++ === 0 ? route.abort("connectionaborted") : route.continue(),
    );
    await open("/runs");
    await page.evaluate("window.isTheSame = true");
    const palette = await openPalette(page);
    await page.keyboard.type("mo");
    await first(palette).waitFor();
    expect(await page.getByPlaceholder("Where to").inputValue()).toBe("mo");
    expect([dropped > 1, await page.evaluate("window.isTheSame")]).toEqual([true, true]);
    await close();
  });

  test("the palette takes what is typed from its first key, a space too, and the page behind stays where it is", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/runs");
    await page.getByRole("table", { name: "Runs" }).waitFor();
    const count = async () =>
      (await server.request<{ items: unknown[] }>("GET", "/v1/runs?limit=200")).body.items.length;
    const before = await count();
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: PALETTE }).waitFor();
    await page.keyboard.type("mo  n j k x ?");
    expect((await readFocus(page)).name).toBe(PALETTE);
    expect(await page.getByPlaceholder("Where to").inputValue()).toBe("mo  n j k x ?");
    expect(await page.evaluate("scrollY")).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: PALETTE }).waitFor({ state: "detached" });
    expect(await count()).toBe(before);
    expect(new URL(page.url()).pathname).toBe("/runs");
    await close();
    expect(faults).toEqual([]);
  });

  test("the palette finds by some of the letters, does what the page can do, and offers what was chosen lately first", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.failed}`);
    let palette = await openPalette(page);
    await page.keyboard.type("restrt");
    await becomes(async () => first(palette).textContent(), "Restart");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Restart the run" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Restart the run" }).waitFor({ state: "detached" });

    palette = await openPalette(page);
    await page.keyboard.type("tol srvrs");
    await becomes(async () => first(palette).textContent(), "Tool servers");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tool servers", level: 1 }).waitFor();
    palette = await openPalette(page);
    await palette.getByRole("group", { name: "Recent" }).getByText("Tool servers").waitFor();
    await becomes(async () => first(palette).textContent(), "Tool servers");
    await page.keyboard.type("new task");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "New task" }).waitFor();
    await page.keyboard.press("Escape");

    palette = await openPalette(page);
    await page.keyboard.type("invite");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Add a user" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Add a user" }).waitFor({ state: "detached" });
    await close();
    expect(faults).toEqual([]);
  });

  test("Approve in the palette leads to the buttons and what they do, and does not answer by itself", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/");
    await page
      .getByRole("article", { name: /^Approval/ })
      .first()
      .waitFor();
    await openPalette(page);
    await page.keyboard.type("approve");
    await page.keyboard.press("Enter");
    await becomes(async () => (await readFocus(page)).name, "Approve");
    const { body } = await server.request<{ status: string }>("GET", `/v1/runs/${ids.waiting}`);
    expect(body.status).toBe("waiting");
    await close();
    expect(faults).toEqual([]);
  });

  test("a dialog asks before it drops what was typed: on Escape, on its cross, on Cancel, on a click outside, not for a selection that ends outside", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/agents");
    await page.getByRole("button", { name: "New agent" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New agent" });
    // Nothing was typed, so the dialog closes.
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New agent" }).first().click();
    await page.getByLabel("Instructions").click();
    await page.keyboard.type("You are careful.");
    const question = dialog.getByRole("alertdialog", { name: "Discard what you typed?" });
    const keep = async () => {
      await question.waitFor();
      await becomes(async () => (await readFocus(page)).name, "Keep writing");
      await page.keyboard.press("Enter");
      await question.waitFor({ state: "detached" });
      expect(await dialog.getByLabel("Instructions").inputValue()).toBe("You are careful.");
    };
    await page.keyboard.press("Escape");
    await keep();
    await dialog.getByRole("button", { name: "Close" }).click();
    await keep();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await keep();
    const box = await dialog.getByLabel("Instructions").boundingBox();
    if (!box) throw new Error("the field is not drawn");
    await page.mouse.move(box.x + 60, box.y + 12);
    await page.mouse.down();
    await page.mouse.move(10, box.y + 40, { steps: 5 });
    await page.mouse.up();
    expect(await question.count()).toBe(0);
    await dialog.getByLabel("Instructions").waitFor();
    await page.mouse.click(10, box.y);
    await keep();
    // Escape twice, as a person in a hurry presses it, and the browser's own way to close.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await question.getByRole("button", { name: "Discard" }).click();
    await dialog.waitFor({ state: "detached" });
    await close();
    expect(faults).toEqual([]);
  });

  test("what is written about a thing is there after a reload and on the way back: agent, skill, pipeline, a new run, an approval's comment, a line's comment", async () => {
    const { page, close, open, go, faults } = await visit(browser, server.url);
    const write = async (path: string, field: () => Locator, text: string, begin = async () => {}) => {
      await open(path);
      await begin();
      await field().click();
      await page.keyboard.press("Control+End");
      await page.keyboard.type(text);
      await page.reload();
      await becomes(async () => ((await field().inputValue()) ?? "").includes(text), true);
    };
    await write("/agents/engineer", () => page.getByLabel("Instructions"), "Mind the commas. ");
    await page.getByText("This is your draft").waitFor();
    await write("/agents/engineer?tab=config", () => page.getByLabel("What it is for"), " and more");
    await write("/skills/debugging", () => page.getByLabel("Instructions"), "Look twice.");
    await write("/runs/new", () => page.getByLabel("Task"), "Write it down first.");
    await write("/", () => page.getByPlaceholder("A comment").first(), "Only after lunch.");
    await go("/agents");
    await go("/runs/new");
    expect(await page.getByLabel("Task").inputValue()).toBe("Write it down first.");

    await open("/pipelines/change");
    const editor = page.getByRole("textbox", { name: /^Text of/ });
    await editor.click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("# kept");
    await page.reload();
    await editor.getByText("# kept").waitFor();
    await page.getByText("This is your draft").waitFor();

    await open(`/runs/${ids.changed}?tab=changes`);
    const file = page.getByRole("region", { name: "src/cart.ts" });
    await file.getByRole("button", { name: "Comment on line 6", exact: true }).click();
    await page.keyboard.type("Half a thought");
    await page.reload();
    await becomes(() => file.getByRole("textbox", { name: "Comment" }).inputValue(), "Half a thought");
    await file.getByRole("button", { name: "Discard" }).click();
    await close();
    expect(faults).toEqual([]);
  });

  test("a page with unsaved changes asks before it is left, by a link and by the browser", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/agents/scribe");
    await page.getByLabel("Instructions").click();
    await page.keyboard.type("Kept? ");
    const link = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs", exact: true });
    await link.click();
    const question = page.getByRole("dialog", { name: "Not saved yet" });
    await question.getByText("You have not saved the instructions of").waitFor();
    await question.getByRole("button", { name: "Stay here" }).click();
    expect(await page.getByLabel("Instructions").inputValue()).toContain("Kept? ");
    const asked = page.waitForEvent("dialog");
    const reload = page.reload().catch(() => {});
    const dialog = await asked;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    await Promise.race([reload, Bun.sleep(500)]);
    await link.click();
    await question.getByRole("button", { name: "Leave, keep the draft" }).click();
    await page.getByRole("table", { name: "Runs" }).waitFor();
    await page.goBack();
    await page.getByText("This is your draft").waitFor();
    await page.getByRole("button", { name: "Discard the draft" }).click();
    expect(await page.getByLabel("Instructions").inputValue()).not.toContain("Kept? ");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("table", { name: "Runs" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a draft that was begun on an older version meets the newer one as a conflict", async () => {
    const { page, close, open } = await visit(browser, server.url);
    await open("/agents/reviewer");
    await page.getByLabel("Instructions").click();
    await page.keyboard.type("Mine. ");
    await server.request("PUT", "/v1/agents/reviewer/config", { body: { prompt: "Theirs by now." } });
    await page.reload();
    await page.getByText("This is your draft").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("Theirs by now.").waitFor();
    await close();
  });

  test("what somebody else saves changes no form that is being written; both versions are shown when it is saved", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    // As after missed events: everything that is shown is requested again.
    const askAgain = () =>
      page.evaluate(
        `new BroadcastChannel("skep-events").postMessage({ event: { id: 0, kind: "gap", at: "", data: {} } })`,
      );
    await open("/settings?tab=limits");
    const turns = page.getByLabel("Turns of a session");
    await typeInto(turns, "77");
    await server.request("PUT", "/v1/settings", { body: { limits: { max_turns: 55 } } });
    await page.getByText("What is stored changed meanwhile.").waitFor();
    // The field is still the same one: it has the focus and takes the next key.
    await page.keyboard.type("7");
    expect(await turns.inputValue()).toBe("777");
    await page.getByRole("button", { name: "Save" }).click();
    const both = page.getByRole("alert");
    await both.getByText('"max_turns": 777').waitFor();
    await both.getByText('"max_turns": 55').waitFor();
    await both.getByRole("button", { name: "Overwrite with mine" }).click();
    await page.getByText("Saved.").waitFor();
    const settings = await server.request<Limits>("GET", "/v1/settings");
    expect(settings.body.limits.max_turns).toBe(777);
    // Settings of another group that were saved meanwhile cause no conflict.
    await typeInto(turns, "78");
    await server.request("PUT", "/v1/settings", { body: { sandbox: { memory_mb: 3000 } } });
    await page.getByRole("button", { name: "Save" }).click();
    await becomes(async () => (await server.request<Limits>("GET", "/v1/settings")).body.limits.max_turns, 78);
    expect(await page.getByRole("alert").count()).toBe(0);

    // What somebody else changes about an agent appears on its open page.
    await open("/agents/scribe");
    await server.request("PUT", "/v1/agents/scribe/config", { body: { description: "Writes what others forgot." } });
    await page.getByText("Writes what others forgot.").waitFor();

    const policy = `/v1/projects/${ids.project}/workflow-policy`;
    await open(`/projects/${ids.project}/policy?work=design`);
    await page.getByRole("button", { name: "Add a stage" }).click();
    await typeInto(page.getByLabel("Name of the stage"), "sketch");
    const theirs = { rules: { docs: [{ stage: "proof", disposition: "required" }] } };
    await server.request("PUT", policy, { body: theirs });
    const asked = page.waitForResponse((answer) => answer.url().endsWith(policy));
    await askAgain();
    await asked;
    // The page has the other person's stage, of another kind of work; the unsaved text stays.
    expect(await page.getByLabel("Name of the stage").inputValue()).toBe("sketch");
    await page.getByRole("button", { name: "Save the policy" }).click();
    await page.getByRole("alert").getByText("proof").waitFor();
    await page.getByRole("button", { name: "Take theirs" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await page.getByLabel("Name of the stage").count()).toBe(0);
    await close();
    expect(faults.filter((fault) => !/412/.test(fault))).toEqual([]);
  });

  test("everything is stopped by two steps, after it was said what that is", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/");
    await openPalette(page);
    await typeInto(page.getByPlaceholder("Where to"), "stop everything");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Stop everything?" });
    await dialog.getByText(/\d+ runs?/).waitFor();
    await dialog.getByRole("button", { name: "Stop everything" }).click();
    await dialog.waitFor({ state: "detached" });
    const left = await server.request<{ items: unknown[] }>("GET", "/v1/runs?status=running,queued,waiting");
    expect(left.body.items).toEqual([]);
    await close();
    expect(faults).toEqual([]);
  });
});
