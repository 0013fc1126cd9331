/**
 * A person who has never used a terminal, from an empty data folder to a team: one chain in one browser, by what is
 * on the pages alone. The parts are looked at more closely where they have tests of their own:
 *
 * set up, provider, its key tested, log-in, what a user does not see   entry.test.ts
 * runs, their logs and approvals                                       run.test.ts, use.test.ts
 * comments, sending back, merging, conflicts                           changes.test.ts
 * chat  chat.test.ts · board  board.test.ts · routines, tool servers  systems.test.ts
 * code graph  graph.test.ts · memory  memory.test.ts · by keyboard  use.test.ts
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { PASSWORD } from "../accounts.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startWebServer, type WebServer } from "../mcp/web-server.ts";
import { createModelServer, type ModelServer, reply } from "../model-server.ts";
import { startServer, type TestServer } from "../server.ts";
import { createSourceTree, SHOP, type SourceTree } from "../source-tree.ts";
import { typeInto, unfoldNavigation } from "./keyboard.ts";
import { COMMENT, FIRST_TRY, HELLO, MODEL, newcomerModel, SECOND_TRY } from "./newcomer-model.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);
const ADMIN = "ada@example.test";
const COLLEAGUE = "ben@example.test";

describe.skipIf(!hasBrowser())("a person who has never used a terminal", () => {
  let server: TestServer;
  let browser: Browser;
  let model: ModelServer;
  let ollama: ModelServer;
  let tools: WebServer;
  let repository: SourceTree;
  beforeAll(async () => {
    repository = createSourceTree(SHOP);
    tools = startWebServer();
    [model, ollama] = await Promise.all([createModelServer(), createModelServer()]);
    [server, browser] = await Promise.all([
      startServer({
        env: {
          OLLAMA_BASE_URL: `${ollama.origin}/v1`,
          AUTH_ENABLED: "true",
          RATE_LIMIT: "0",
          ALLOW_HOST_SHELL: "true",
          ALLOW_LOCAL_REPOSITORIES: "true",
          FETCH_ALLOW: "127.0.0.1",
        },
      }),
      openBrowser(),
    ]);
    model.get("/v1/models", { data: [{ id: MODEL }] });
    ollama.get("/api/tags", { models: [{ name: "qwen3:8b", model: "qwen3:8b" }] });
    ollama.get("/api/show", { capabilities: ["completion", "tools"], model_info: { "qwen3.context_length": 40_960 } });
    ollama.next(reply({ toolCalls: [{ name: "complete", input: { outputs: HELLO, summary: "Done." } }] }));
    model.answerBy(newcomerModel);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    await Promise.all([model?.stop(), ollama?.stop()]);
    await tools?.stop();
    repository?.remove();
  });

  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const goTo = async (page: Page, name: string) => {
    await unfoldNavigation(page);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  };
  const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name, level: 1 }).waitFor();

  /** The three steps: an account, a model, the example. */
  async function setUp(page: Page): Promise<void> {
    await page.goto(server.url);
    await typeInto(page.getByLabel("E-mail"), ADMIN);
    await typeInto(page.getByLabel("Your name"), "Ada");
    await typeInto(page.getByLabel("Password"), PASSWORD);
    await typeInto(page.getByLabel("Setup token"), readFileSync(join(server.data, "setup-token"), "utf8").trim());
    await press(page, "Make the account");
    await heading(page, "Set up");
    await page.getByLabel("Provider").selectOption("openai");
    await page.getByText("Another address").click();
    await typeInto(page.getByLabel("Address"), `${model.origin}/v1`);
    await typeInto(page.getByLabel("API key"), "sk-right");
    await press(page, "Test");
    await page.getByRole("status").getByText("It works").waitFor();
    await press(page, "Use OpenAI");
    await page.getByRole("status").getByText("Ready: OpenAI").waitFor();
    await press(page, "Start the example");
    await page.getByRole("region", { name: "The example" }).getByText("It is done.").waitFor();
    await page.getByRole("link", { name: "To Home" }).click();
    await heading(page, "Home");
  }

  async function addRepository(page: Page): Promise<void> {
    await goTo(page, "Projects");
    await page.getByRole("button", { name: "Add a project" }).first().click();
    await typeInto(page.getByLabel("Name"), "shop");
    await typeInto(page.getByLabel("Repository"), repository.root);
    await press(page, "Add");
    await heading(page, "shop");
    await page.getByText("Cloned", { exact: true }).waitFor();
  }

  /**
   * Runs `feature`: watches its agents, approves the design, comments on the code, sends it back, and merges the second
   * version.
   */
  async function work(page: Page): Promise<void> {
    await page.getByRole("link", { name: "Start a run" }).first().click();
    // Nobody has started a run of this project yet, and the project has a repository.
    await becomes(() => page.getByLabel("Pipeline").inputValue(), "feature");
    await typeInto(page.getByLabel("Task"), "Let a cart have a discount");
    await press(page, "Start");
    await heading(page, "Let a cart have a discount");
    const steps = page.getByRole("list", { name: "Steps" });
    await steps.getByRole("button", { name: /Plan/ }).click();
    // For a moment, the last words may be shown beside the message that they became.
    const said = page.getByRole("log", { name: "Log of the step" }).getByText("I look at the repository first.");
    await said.first().waitFor();
    const card = page.getByRole("article", { name: /^Approval/ });
    await card.getByText("The cart multiplies its sum").first().waitFor();
    expect(await card.textContent()).toContain("Continues with");
    await card.getByRole("button", { name: "Approve" }).click();
    const state = page.locator("header").getByText("Succeeded");
    await state.waitFor();
    await page.getByRole("link", { name: "Changes" }).click();
    const file = page.getByRole("region", { name: "src/cart.ts" });
    await file.getByText(FIRST_TRY).waitFor();
    await file.getByRole("button", { name: "Comment on line 6" }).click();
    await typeInto(page.getByRole("textbox", { name: "Comment" }), COMMENT);
    await press(page, "Keep the comment");
    await page.getByRole("button", { name: "Send back (1)" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send back" }).click();
    await page.waitForURL((url) => !url.search.includes("changes"));
    await page.getByRole("link", { name: "Changes" }).click();
    await file.getByText(SECOND_TRY).waitFor();
    await state.waitFor();
    await page.getByRole("button", { name: /^Merge into / }).click();
    await page.getByText(/merged into main as/).waitFor();
  }

  async function chat(page: Page): Promise<void> {
    await goTo(page, "Chat");
    await page
      .getByRole("button", { name: /^New chat$/ })
      .first()
      .click();
    await page.getByLabel("Agent").last().selectOption("engineer");
    await typeInto(page.getByLabel("First message"), "What changed in the cart?");
    await page.getByLabel("Project").last().selectOption({ label: "shop" });
    await press(page, "Start");
    await page.getByText("90 per cent").waitFor();
  }

  async function board(page: Page): Promise<void> {
    await goTo(page, "Board");
    await press(page, "New task");
    await typeInto(page.getByRole("textbox", { name: "Title" }), "Say in the manual what a discount is");
    await page.getByLabel("Kind of work").selectOption("docs");
    await page.getByLabel("Agent").selectOption("scribe");
    await press(page, "Add");
    const card = page.getByRole("article", { name: "Say in the manual what a discount is" });
    await card.getByRole("button", { name: /^Move/ }).click();
    await page.getByRole("menuitem", { name: "Start agents on it" }).click();
    await press(page, "Start a run");
    await page.waitForURL(/\/runs\/run_/);
    await page.locator("header").getByText("Succeeded").waitFor();
    await goTo(page, "Board");
    await page.getByRole("region", { name: "Done" }).getByRole("article", { name: "Say in the manual what" }).waitFor();
  }

  async function routine(page: Page): Promise<void> {
    await goTo(page, "Routines");
    await page.getByRole("button", { name: "New routine" }).first().click();
    await typeInto(page.getByLabel("Name", { exact: true }), "Friday report");
    await typeInto(page.getByLabel("Instructions"), "Write what was done this week.");
    await page.getByRole("button", { name: "Fridays at 16" }).click();
    await page.getByRole("region", { name: "Next times" }).getByText("Fri").first().waitFor();
    await press(page, "Create");
    await heading(page, "Friday report");
    await page.getByRole("button", { name: "Switch on the routines of" }).click();
    await page.locator("header").getByText("On", { exact: true }).waitFor();
  }

  async function budget(page: Page): Promise<void> {
    await goTo(page, "Usage");
    await page.getByText(/^\$\d/).first().waitFor();
    await page.getByRole("link", { name: "Set budgets" }).click();
    await typeInto(page.getByLabel("Everybody, a month, USD"), "20");
    await typeInto(page.getByLabel("Each run, USD"), "5");
    await press(page, "Save");
    await goTo(page, "Usage");
    await page.getByText("of $20").first().waitFor();
    await page.getByText("at most $5").waitFor();
  }

  async function symbol(page: Page): Promise<void> {
    await goTo(page, "Projects");
    await page.getByRole("link", { name: /^shop/ }).click();
    await page.getByRole("link", { name: /Not indexed yet|Up to date|Older/ }).click();
    await heading(page, "Code graph");
    await page.getByRole("button", { name: /^Index/ }).click();
    await typeInto(page.getByLabel("A name, or what it does"), "withTax");
    await page
      .getByRole("list", { name: "Found symbols" })
      .getByRole("link", { name: /withTax/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "What a change reaches" }).waitFor();
    await page.getByRole("heading", { name: /depth 1/ }).waitFor();
  }

  async function memory(page: Page): Promise<void> {
    await goTo(page, "Memory");
    await typeInto(page.getByLabel("Search as an agent does"), "discount");
    await page.getByRole("link", { name: /Discounts are in the cart/ }).click();
    await press(page, "Edit");
    await typeInto(page.getByLabel("Content"), "A discount is in per cent, in the cart.");
    await press(page, "Save");
    await page.getByRole("paragraph").getByText("A discount is in per cent").waitFor();
  }

  async function toolServer(page: Page): Promise<void> {
    await goTo(page, "Tool servers");
    await page.getByRole("button", { name: "Add a server" }).first().click();
    await typeInto(page.getByLabel("Id", { exact: true }), "tickets");
    await typeInto(page.getByLabel("Address"), tools.url);
    await press(page, "Add");
    await heading(page, "tickets");
    await page.locator("main summary").filter({ hasText: "say" }).click();
    await page.getByText("Says it back.").waitFor();
  }

  async function invite(page: Page): Promise<void> {
    await goTo(page, "Users");
    await press(page, "Add a user");
    await typeInto(page.getByLabel("E-mail"), COLLEAGUE);
    await typeInto(page.getByLabel("Name"), "Ben");
    await typeInto(page.getByLabel("Password"), PASSWORD);
    await press(page, "Add");
    await page.getByText(`Skep: ${server.url}/`).waitFor();
    await press(page, "Done");
    await page.getByRole("table", { name: "Users" }).getByText(COLLEAGUE).waitFor();
    // The colleague uses a separate browser.
    const { page: theirs, close, faults } = await visit(browser, server.url);
    await theirs.goto(server.url);
    await typeInto(theirs.getByLabel("E-mail"), COLLEAGUE);
    await typeInto(theirs.getByLabel("Password"), PASSWORD);
    await press(theirs, "Log in");
    await heading(theirs, "Home");
    await unfoldNavigation(theirs);
    const links = theirs.getByRole("navigation", { name: "Main" }).getByRole("link");
    for (const name of ["Users", "Server settings", "System", "Tool servers"])
      expect([name, await links.filter({ hasText: new RegExp(`^${name}$`) }).count()]).toEqual([name, 0]);
    await theirs.getByRole("heading", { name: "First steps" }).waitFor();
    await goTo(theirs, "Runs");
    await theirs.getByText("There is none yet.").waitFor();
    await close();
    expect(faults.filter((fault) => !/401/.test(fault))).toEqual([]);
  }

  test("sets it up, has a feature built, approved, corrected and merged, and brings a colleague in", async () => {
    const { page, close, faults } = await visit(browser, server.url);
    const parts = [setUp, addRepository, work, chat, board, routine, budget, symbol, memory, toolServer, invite];
    for (const part of parts) await part(page);
    await close();
    expect(faults.filter((fault) => !/401/.test(fault))).toEqual([]);
  });

  test("chooses Ollama instead of a provider's key: found by itself, or at an address that is typed in", async () => {
    const { page, close, faults } = await visit(browser, server.url);
    await page.goto(`${server.url}/setup`);
    await typeInto(page.getByLabel("E-mail"), ADMIN);
    await typeInto(page.getByLabel("Password"), PASSWORD);
    await press(page, "Log in");
    const found = page.getByText("Ollama answers on this machine, with 1 model.");
    await found.waitFor();
    await page.getByText("Another provider").click();
    await page.getByLabel("Provider").selectOption("ollama");
    await typeInto(page.getByLabel("Address"), `${model.origin}/nothing-here/v1`);
    await press(page, "Test");
    await page.getByRole("alert").getByText("It does not work").waitFor();
    await typeInto(page.getByLabel("Address"), `${ollama.origin}/v1`);
    await press(page, "Test");
    await page.getByRole("status").getByText("It works").waitFor();
    await press(page, "Use Ollama");
    await page.getByRole("status").getByText("Ollama (ollama/qwen3:8b)").waitFor();
    await found.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("region", { name: "The example" }).getByText("It is done.").waitFor();
    expect(ollama.requests.some(({ path }) => path === "/api/chat")).toBe(true);
    await close();
    expect(faults.filter((fault) => !/401/.test(fault))).toEqual([]);
  });
});
