/** A run in a browser: opened at its problem, operated by keys, its log filtered, two attempts of a step compared. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("a run", () => {
  const dashboard = withDashboard();

  test("graph, outline and log show the same step; keys lead to the next problem and to what waits", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.failed}?tab=graph`);
    const current = page.getByRole("list", { name: "Steps" }).locator("[aria-current=step]");
    const heading = page.locator("#step-name");
    await heading.getByText("Run the tests").waitFor();
    // A failure is shown once: at the top, not at the step again.
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.locator(".react-flow__node", { hasText: "survey" }).click();
    await heading.getByText("survey").waitFor();
    await page.getByRole("navigation", { name: "Views of the run" }).getByRole("link", { name: "Steps" }).click();
    await current.getByText("survey").waitFor();
    await heading.getByText("survey").waitFor();
    await page.locator("main h1").click();
    await page.keyboard.press("n");
    await heading.getByText("Run the tests").waitFor();
    // Agents' outputs are Markdown, and their keys are shown as words.
    await open(`/runs/${ids.succeeded}?tab=steps&step=plan`);
    await page.locator("[data-pane] dd ol li", { hasText: "One writer with tests." }).waitFor();
    await open(`/runs/${ids.succeeded}?tab=steps&step=build`);
    await page.locator("[data-pane] dt", { hasText: "Changed files" }).waitFor();
    await open(`/runs/${ids.waiting}`);
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await page.keyboard.press("a");
    await becomes(() => page.evaluate("document.activeElement.textContent"), "Approve");
    await close();
    expect(faults).toEqual([]);
  });

  test("the log leaves out what is hidden, and the address keeps it", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.succeeded}?step=survey`);
    const log = page.getByRole("log", { name: "Log of the step" });
    await log.locator("details").first().waitFor();
    const tools = log.locator("summary .font-mono.font-semibold");
    await tools.first().waitFor();
    const words = await log.textContent();
    await page.getByRole("button", { name: "Tools", exact: true }).click();
    await page.waitForURL(/hide=tools/);
    await tools.first().waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("button", { name: "Tools", exact: true, pressed: false }).waitFor();
    await page.getByRole("button", { name: "Tools", exact: true }).click();
    await tools.first().waitFor();
    await becomes(() => log.textContent(), words);
    await close();
    expect(faults).toEqual([]);
  });

  test("a dry run of a pipeline asks no model, costs nothing and plays every step", async () => {
    const { server, browser } = dashboard();
    const body = {
      id: "plain",
      name: "Plain",
      description: "Two steps.",
      steps: [
        { id: "survey", agent: "researcher", input: "Look.", outputs: ["findings"], model: "anthropic/not-asked" },
        { id: "plan", agent: "architect", input: "{{ steps.survey.outputs.findings }}", outputs: ["plan"] },
      ],
    };
    expect((await server.request("POST", "/v1/pipelines", { body })).status).toBe(201);
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/pipelines/plain");
    await page.getByRole("link", { name: "Dry run" }).click();
    await page.getByText("the scripted model plays every agent").waitFor();
    await page.getByRole("button", { name: "Start the dry run" }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.locator("header").getByText("Succeeded").waitFor();
    const id = page.url().split("/").at(-1);
    const { body: run } = await server.request<{ cost_usd: number; steps_done: number }>("GET", `/v1/runs/${id}`);
    expect(run).toMatchObject({ cost_usd: 0, steps_done: 2 });
    await close();
    expect(faults).toEqual([]);
  });

  test("run again proposes what the run has, line breaks and guidance of a restart as well, and not in the address", async () => {
    const { server, browser } = dashboard();
    const steps = [{ id: "survey", agent: "researcher", input: "{{ inputs.notes }}", outputs: ["findings"] }];
    const pipeline = {
      id: "noted",
      name: "Noted",
      description: "One step.",
      defaults: { budget_usd: 2 },
      inputs: { notes: {}, tone: {} },
      steps,
    };
    expect((await server.request("POST", "/v1/pipelines", { body: pipeline })).status).toBe(201);
    const given = {
      pipeline_id: "noted",
      task_description: "Two lines,\nof a task.",
      inputs: { notes: "  first\n\n  second", tone: "short" },
    };
    const more = { human_context: "Be brief.", model: "demo/scripted", budget_usd: 1.25 };
    const body = { ...given, ...more };
    const first = await server.request<{ id: string }>("POST", "/v1/runs", { body });
    expect(first.status).toBe(201);
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${first.body.id}`);
    await page.locator("header").getByText("Succeeded").waitFor();
    const again = { from_step: "survey", human_context: "And exact." };
    expect((await server.request("POST", `/v1/runs/${first.body.id}/restart`, { body: again })).status).toBe(202);
    const human_context = `${more.human_context}\n\n${again.human_context}`;
    await page.reload();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL(`${server.url}/runs/new?again=${first.body.id}`);
    await page.getByLabel("tone").waitFor();
    await becomes(() => page.getByLabel("notes").inputValue(), given.inputs.notes);
    await becomes(() => page.getByLabel("Guidance").inputValue(), human_context);
    await becomes(() => page.getByLabel("Budget, USD").inputValue(), String(more.budget_usd));
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/runs/run_") && !url.pathname.endsWith(first.body.id));
    const { body: second } = await server.request("GET", `/v1/runs/${page.url().split("/").at(-1)}`);
    expect(second).toMatchObject({ ...body, human_context });
    // A value that came from the pipeline is left to the pipeline the next time, too.
    const plain = await server.request<{ id: string; budget_usd: number }>("POST", "/v1/runs", {
      body: { ...given, model: more.model },
    });
    expect(plain.body.budget_usd).toBe(2);
    await open(`/runs/new?again=${plain.body.id}`);
    await becomes(() => page.getByLabel("notes").inputValue(), given.inputs.notes);
    expect(await page.getByLabel("Budget, USD").inputValue()).toBe("");
    await close();
    expect(faults).toEqual([]);
  });

  test("a filter of the list is saved under a name, is there in another browser, and is removed", async () => {
    const { server, browser, ids } = dashboard();
    const first = await visit(browser, server.url);
    await first.open("/runs?status=failed");
    await first.page.getByRole("button", { name: "Save this filter" }).click();
    await typeInto(first.page.getByRole("dialog").getByLabel("Name"), "What broke");
    await first.page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await first.page.getByRole("link", { name: "What broke" }).waitFor();
    await first.close();
    const second = await visit(browser, server.url);
    await second.open("/runs");
    await second.page.getByRole("link", { name: "What broke" }).click();
    await second.page.waitForURL(/status=failed/);
    await second.page.getByRole("link", { name: /Nightly checks/ }).waitFor();
    await second.page.getByRole("link", { name: /Quote names in every export/ }).waitFor({ state: "detached" });
    await second.page.getByRole("button", { name: "Remove the filter What broke" }).click();
    await second.page.getByRole("link", { name: "What broke" }).waitFor({ state: "detached" });
    await second.close();
    expect([...first.faults, ...second.faults, ids.failed === ""]).toEqual([false]);
  });

  test("restarted from its key with guidance, it tries again; both attempts are shown beside each other", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/runs/${ids.failed}`);
    await page.locator("#step-name").waitFor();
    await page.keyboard.press(".");
    await typeInto(page.getByLabel("Guidance"), "Look at the second test first.");
    await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const attempts = page.getByRole("navigation", { name: "Attempts" });
    await attempts.getByRole("button", { name: /2$/ }).waitFor();
    await page.locator("header").getByText("Failed").waitFor();
    await attempts.getByRole("button", { name: /^Compare with/ }).click();
    const compared = page.getByRole("region", { name: "Two attempts compared" });
    await compared.getByRole("row", { name: /^Cost/ }).waitFor();
    expect(await compared.getByRole("columnheader").allTextContents()).toEqual(["What", "Attempt 1", "Attempt 2"]);
    await page.reload();
    await compared.getByRole("button", { name: "Close" }).click();
    await page.getByRole("log", { name: "Log of the step" }).waitFor();
    await open(`/runs/${ids.failed}?tab=timeline`);
    await page.getByText(/ in all\b/).waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
