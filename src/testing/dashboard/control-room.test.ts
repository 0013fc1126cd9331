/** Home, rows of lists, a run as a story, its result, the pipeline as a picture with forms, the ways by project: with keys and a mouse. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { waitForRunEnd } from "../attacks/held-run.ts";
import { becomes, waitFor } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

/** How many px the last bar of the days extends beyond its link; evaluated in the page. */
const SPILL = `(() => {
  const bars = document.querySelector('[role="img"][aria-label^="Spend by day"]');
  const link = bars.closest("a");
  const room = link.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(link).paddingRight);
  return bars.lastElementChild.getBoundingClientRect().right - room;
})()`;

setDefaultTimeout(300_000);

/** Most height of a run's header, in px, from the path above the title to the facts. */
const HEAD = 90;
const ROOM = { width: 1280, height: 900 };

describe.skipIf(!hasBrowser())("the control room", () => {
  const dashboard = withDashboard();
  let looped: string;
  beforeAll(async () => {
    const { server } = dashboard();
    const steps = [
      { id: "survey", agent: "researcher", input: "Look.", outputs: ["findings"] },
      {
        id: "broken",
        name: "Run the tests",
        agent: "reviewer",
        input: "Test.",
        on_failure: { goto: "survey", max_visits: 3 },
      },
      { id: "after", agent: "scribe", input: "Say.", needs: ["broken"] },
    ];
    const pipeline = await server.request("POST", "/v1/pipelines", { body: { id: "loop", name: "Loop", steps } });
    expect(pipeline.status).toBe(201);
    const run = { pipeline_id: "loop", task_description: "Go around three times" };
    looped = (await server.request<{ id: string }>("POST", "/v1/runs", { body: run })).body.id;
    await waitForRunEnd(server, undefined, looped);
  });

  test("a run is a story: a low head, a row for each round in the order in which it began, and a pane that scrolls alone", async () => {
    const { server, browser } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open(`/runs/${looped}`);
    const rows = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
    await rows.nth(6).waitFor();
    const names = (await rows.allTextContents()).map(
      (row) => /(survey|Run the tests|after)( round \d)?/.exec(row)?.[0],
    );
    expect(names).toEqual([
      "survey",
      "Run the tests",
      "survey round 2",
      "Run the tests round 2",
      "survey round 3",
      "Run the tests round 3",
      "after",
    ]);
    const head = await page.locator("main header").boundingBox();
    expect(head && head.height <= HEAD ? "low" : head).toBe("low");
    await rows.nth(2).getByRole("button").click();
    await page.waitForURL(/step=survey&attempt=step_/);
    await rows.nth(2).locator("[aria-current=step]").waitFor();
    await page
      .getByRole("navigation", { name: "Attempts" })
      .getByRole("button", { name: "2", pressed: true })
      .waitFor();
    // The latest attempt of a step needs no address of its own.
    await rows.nth(5).getByRole("button").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("step") === "broken" && !url.searchParams.has("attempt"));
    await page.getByRole("log", { name: "Log of the step" }).locator("details").first().waitFor();
    await page.setViewportSize({ width: 1280, height: 420 });
    await page.locator("[data-pane]").hover();
    await page.mouse.wheel(0, 5_000);
    const scrolled = "document.querySelector('[data-pane]').scrollTop > 0";
    await becomes(() => page.evaluate(scrolled), true);
    await rows.nth(2).getByRole("button").click();
    await becomes(() => page.evaluate("document.querySelector('[data-pane]').scrollTop"), 0);
    await close();
    expect(faults).toEqual([]);
  });

  test("a run that has succeeded opens at its result, from which two clicks lead to the merge", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.changed}`);
    const result = page.getByRole("article", { name: "Result" });
    await result.getByText("Discounts by percentage, with a test.").waitFor();
    const about = page.getByRole("complementary", { name: "About the result" });
    await about.getByText("package-lock.json").waitFor();
    await about.getByRole("heading", { name: "Cost" }).waitFor();
    // The button says so for three seconds.
    const copied = page.getByRole("button", { name: "Copied", exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy the link to this result" }).click();
    await copied;
    await page.getByRole("link", { name: "Review 5 files" }).click();
    await page.getByRole("button", { name: /^Merge into main/ }).click();
    await page
      .getByText(/merged into main as/)
      .first()
      .waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("the steps of a pipeline are forms: what is changed there is in its text, its picture and, once saved, its file", async () => {
    const { server, browser } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open("/pipelines/loop");
    await page.locator(".react-flow__node", { hasText: "survey" }).click();
    const form = page.getByRole("dialog", { name: "Step survey" });
    await typeInto(form.getByLabel("Name"), "Look around");
    await form.getByLabel("Agent").selectOption("architect");
    await form.getByRole("button", { name: "Write it" }).click();
    await form.waitFor({ state: "detached" });
    await page.locator(".react-flow__node", { hasText: "Look around" }).getByText("architect").waitFor();
    await page.getByRole("button", { name: "Add a step" }).click();
    const fresh = page.getByRole("dialog", { name: "New step" });
    await typeInto(fresh.getByLabel("Id"), "agree");
    await fresh.getByLabel("Kind").selectOption("approval");
    await typeInto(fresh.getByLabel("What is asked"), "Is it well?");
    await fresh.getByRole("button", { name: "Add", exact: true }).click();
    await page.locator(".react-flow__node", { hasText: "agree" }).getByText("a person").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("dialog", { name: "What changes" }).getByRole("button", { name: "Save this" }).click();
    await page.getByText("Saved.", { exact: false }).first().waitFor();
    const { body } = await server.request<{ steps: { id: string; name?: string; agent?: string }[] }>(
      "GET",
      "/v1/pipelines/loop",
    );
    const { source } = body as unknown as { source: string };
    expect(source).toContain("Look around");
    expect(source).toContain("Is it well?");
    await close();
    expect(faults).toEqual([]);
  });

  test("the project that is chosen is where runs and board lead, and the next run proposes what the last one had", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open("/runs/new");
    // In a new browser, the form proposes what was started last on any device.
    const newest = await server.request<{ items: { pipeline_id: string }[] }>("GET", "/v1/runs?limit=1");
    expect(await page.getByLabel("Pipeline").inputValue()).toBe(newest.body.items[0]!.pipeline_id);
    const main = page.getByRole("navigation", { name: "Main" });
    expect(await main.locator(":scope > ul > li").allTextContents()).toEqual([
      "Home",
      "Inbox1 waiting for you",
      "Runs",
      "Board",
      "Chat",
      "Code",
    ]);
    await page.getByRole("combobox", { name: "Working in" }).selectOption(ids.project);
    await main.getByRole("link", { name: "Runs", exact: true }).click();
    await page.waitForURL(`${server.url}/runs?project=${ids.project}`);
    await main.getByRole("link", { name: "Code", exact: true }).click();
    await page.waitForURL(`${server.url}/projects/${ids.project}/graph`);
    await main.getByText("Library").click();
    await main.getByRole("link", { name: "Pipelines" }).click();
    await page.getByRole("heading", { name: "Pipelines", level: 1 }).waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("Pipeline").selectOption("checks");
    await typeInto(page.getByLabel("Task"), "Look at the shop");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL(/\/runs\/run_/);
    await open("/runs/new");
    await becomes(() => page.getByLabel("Pipeline").inputValue(), "checks");
    await becomes(() => page.getByLabel("Project").inputValue(), "shop");
    await close();
    expect(faults).toEqual([]);
  });

  test("rows of lists say what a person asks: success and usual cost, runs and spend, and what an agent does now", async () => {
    const { server, browser, ids } = dashboard();
    // The project's other runs may be of the day before.
    const begun = { pipeline_id: "long", project_id: ids.project, task_description: "Run every test while they watch" };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body: begun })).body;
    const { page, open, axe, close, faults } = await visit(browser, server.url);
    const row = (table: string, name: string) =>
      page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: name });
    await open("/agents");
    // An agent may be doing several things; one is named.
    const now = row("Agents", "Engineer").getByRole("link", { name: /^Run every test/ });
    await now.waitFor();
    expect(await axe()).toEqual([]);
    await now.click();
    await page.waitForURL(/\/runs\/run_/);
    const begin = page.locator("main time[datetime^='20']").first();
    // The list may still be there, and disappear from under the mouse.
    await waitFor(async () => {
      await begin.hover();
      return /\d:\d\d:\d\d/.test((await begin.getAttribute("title")) ?? "");
    }, "the whole of a time below the mouse");
    await open("/pipelines");
    await row("Pipelines", "Nightly checks").getByText("0 % of").waitFor();
    await row("Pipelines", "Implement").getByText("100 % of").waitFor();
    await row("Pipelines", "Bugfix").getByText("–").first().waitFor();
    expect(await axe()).toEqual([]);
    await open("/projects");
    await row("Projects", "shop")
      .getByTitle(/^\d+ runs?$/)
      .waitFor();
    expect(await axe()).toEqual([]);
    await server.request("POST", `/v1/runs/${id}/cancel`);
    await close();
    expect(faults).toEqual([]);
  });

  test("narrow, middling and wide nothing scrolls sideways", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, close, overflow, waitUntilSettled, faults } = await visit(browser, server.url);
    const wide: string[] = [];
    const paths = ["/", "/inbox", "/pipelines/loop", `/runs/${ids.changed}`];
    for (const path of [...paths, ...["steps", "graph"].map((tab) => `/runs/${looped}?tab=${tab}`)]) {
      await open(path);
      for (const width of [360, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await waitUntilSettled();
        if ((await overflow()) > 0) wide.push(`${path} at ${width}`);
        // What the panel cuts off does not make the page wider.
        const spill = path === "/" ? ((await page.evaluate(SPILL)) as number) : 0;
        if (!(spill <= 0.5)) wide.push(`the bars of days at ${width}, by ${spill}`);
      }
    }
    await close();
    expect(wide).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("Home fits a screen: what needs a person, what runs and says, what broke; all of it is stopped from there", async () => {
    const { server, browser } = dashboard();
    // A new run, because the command of an older one may have reached its time limit by now.
    const begun = { pipeline_id: "long", task_description: "Run every test once more" };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body: begun })).body;
    const { page, open, close, axe, waitUntilSettled, faults } = await visit(browser, server.url, { viewport: ROOM });
    await open("/");
    const running = page.getByRole("list", { name: "Running" });
    const own = running.getByRole("listitem").filter({ hasText: begun.task_description });
    await own.getByText("This takes a while: I run all tests.").waitFor();
    const question = page.getByRole("article", { name: "Approval confirm" });
    await question.getByRole("button", { name: "Approve" }).waitFor();
    await question.getByText("Cost so far").waitFor();
    await question.getByRole("link", { name: "Read more" }).waitFor();
    const broken = page.getByRole("list", { name: "Broken since yesterday" });
    await broken.getByText("The test database does not answer on port 5432.").first().waitFor();
    await waitUntilSettled();
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThanOrEqual(ROOM.height);
    expect(await axe()).toEqual([]);
    await broken
      .getByRole("button", { name: /^Restart / })
      .first()
      .click();
    await page.getByRole("dialog", { name: "Restart the run" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop everything" }).click();
    const stop = page.getByRole("dialog", { name: "Stop everything?" }).or(page.getByRole("alertdialog"));
    await stop.getByText(/\d at work, \d in the queue, 1 waiting for an answer/).waitFor();
    await stop.getByRole("button", { name: "Stop everything" }).click();
    await page.getByText("Nothing runs now.").waitFor();
    await page.getByText("Nothing waits for you.").waitFor();
    const { body } = await server.request<{ status: string }>("GET", `/v1/runs/${id}`);
    expect(body.status).toBe("cancelled");
    await close();
    expect(faults).toEqual([]);
  });
});
