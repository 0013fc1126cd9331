/** Models in a browser: an eval with its picture, a wait for a provider that is tried now, a model that is set and tried. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { type Behaviour, createModelServer, type ModelServer, reply } from "../model-server.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("models", () => {
  let models: ModelServer;
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    models = await createModelServer();
    [server, browser] = await Promise.all([startServer({ env: { ALLOW_HOST_SHELL: "true" } }), openBrowser()]);
    const lab = { base_url: `${models.origin}/v1`, models: [{ id: "m1", context_window: 16_384 }] };
    await server.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
    const agent = { id: "worker", prompt: "You work.", model: "custom-lab/m1" };
    await server.request("POST", "/v1/agents", { body: agent });
  });
  afterAll(async () => {
    await browser?.close();
    await models?.stop();
    await server?.remove();
  });
  const file = (path: string, text: string) => ({ path, content: Buffer.from(text).toString("base64") });
  const used = {
    kind: "status" as const,
    status: 429,
    headers: { "retry-after": "7200" },
    body: { error: { message: "You have used up your quota", type: "usage_limit_reached" } },
  };

  test("an eval shows who passed what as a picture and in numbers, its attempts, and another one beside it", async () => {
    const task = (name: string, solution: string) => ({
      name,
      instruction: "Write 42.",
      tests: [file("test.sh", 'test "$(cat answer)" = 42')],
      solution: [file("solve.sh", solution)],
    });
    const make = async (name: string, second: string) => {
      const tasks = [task("sound", "printf 42 > answer"), task("odd", second)];
      const made = await server.request<{ id: string }>("POST", "/v1/evals", { body: { name, tasks, oracle: true } });
      for (;;) {
        const { body } = await server.request<{ status: string }>("GET", `/v1/evals/${made.body.id}`);
        if (body.status === "done") return made.body.id;
        await Bun.sleep(50);
      }
    };
    const before = await make("Before", "printf 41 > answer");
    const now = await make("Now", "printf 42 > answer");
    const { page, open, close, overflow, axe, faults } = await visit(browser, server.url);
    await open("/evals");
    await page
      .getByRole("table", { name: "Evals" })
      .getByRole("link", { name: /Before/ })
      .click();
    await page.waitForURL(new RegExp(before));
    await page.getByText("The reference solution does not pass").first().waitFor();
    await page.getByRole("option", { name: /Reference solution: 2, Passed 1, Failed 1/ }).waitFor();
    const row = page.getByRole("table", { name: "Scores" }).getByRole("row", { name: /Reference solution/ });
    await row.getByText("1/2").waitFor();
    await page.getByRole("table", { name: "Attempts" }).getByRole("link").nth(3).waitFor();
    await open(`/evals/${now}`);
    const choice = page.getByRole("combobox", { name: "Compare with" });
    await choice.selectOption(before);
    await page.getByText("1 better, 0 worse.").waitFor();
    expect([await overflow(), await axe()]).toEqual([0, []]);
    await close();
    expect(faults).toEqual([]);
  });

  test("a run and a chat that wait for a provider say so, and try it again at once", async () => {
    const { page, open, close, faults } = await visit(browser, server.url);
    const source = "id: one\nname: One\nsteps:\n  - id: work\n    agent: worker\n    input: Work\n";
    await server.request("POST", "/v1/pipelines", { body: { source } });
    models.next(used, reply({ toolCalls: [{ id: "c1", name: "complete", input: { summary: "done" } }] }));
    const run = await server.request<{ id: string }>("POST", "/v1/runs", {
      body: { pipeline_id: "one", task_description: "Work" },
    });
    await open(`/runs/${run.body.id}`);
    await page
      .getByText(/used up your quota.*asked again at/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Try now" }).click();
    await page.locator("header").getByText("Succeeded").first().waitFor();
    await page.getByRole("button", { name: "Try now" }).waitFor({ state: "detached" });
    models.next(used, reply({ text: "Here I am." }));
    const chat = await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body: { agent_id: "worker" } });
    await open(`/chat/${chat.body.id}`);
    await typeInto(page.getByRole("textbox", { name: "Message" }), "Are you there?");
    await page.keyboard.press("Enter");
    await page
      .getByText(/used up your quota.*asked again at/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("Here I am.").waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a reply that failed says why, also after a reload, until the message is taken back or another is answered", async () => {
    const { page, open, close, axe, faults } = await visit(browser, server.url);
    const say = async (text: string) => {
      await typeInto(page.getByRole("textbox", { name: "Message" }), text);
      await page.keyboard.press("Enter");
    };
    const alert = page.getByRole("alert").filter({ hasText: /custom-lab does not allow this \(403\).*provider_auth/ });
    const refusal: Behaviour = { kind: "status", status: 403, body: { error: { message: "Not in your region." } } };
    models.next(refusal, reply({ text: "Here I am." }));
    const chat = await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body: { agent_id: "worker" } });
    await open(`/chat/${chat.body.id}`);
    await say("Are you there?");
    await alert.waitFor();
    expect(await page.getByText("has answered").count()).toBe(0);
    await page.reload();
    await alert.waitFor();
    expect(await axe()).toEqual([]);
    await say("And now?");
    await page.getByText("Here I am.").waitFor();
    await page.getByText("has answered").waitFor({ state: "attached" });
    expect(await alert.count()).toBe(0);
    models.next(refusal);
    await say("Still?");
    await alert.waitFor();
    await page.getByRole("button", { name: "More about this message" }).last().click();
    await page.getByRole("menuitem", { name: "Take back to here and edit" }).click();
    await alert.waitFor({ state: "detached" });
    await close();
    expect(faults).toEqual([]);
  });

  test("a model's prices are set without touching the rest, and a trial says what it can", async () => {
    const { page, open, close, axe, faults } = await visit(browser, server.url);
    await open("/providers");
    await page
      .getByRole("table", { name: "Models" })
      .getByRole("link", { name: /custom-lab\/m1/ })
      .click();
    const dialog = page.getByRole("dialog");
    await typeInto(dialog.getByRole("spinbutton", { name: /Price in/ }), "0.5");
    await dialog.getByRole("combobox", { name: "Sees pictures" }).selectOption("yes");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("custom-lab/m1 is saved.").waitFor();
    const found = await server.request<{ items: Record<string, unknown>[] }>("GET", "/v1/models?provider=custom-lab");
    expect(found.body.items[0]).toMatchObject({
      input_usd_per_mtok: 0.5,
      output_usd_per_mtok: null,
      images: true,
      context_window: 16_384,
    });
    models.next(
      reply({ text: "ready" }),
      reply({ toolCalls: [{ id: "c1", name: "report_number", input: { number: 7 } }] }),
      reply({ text: "Blue." }),
    );
    await page
      .getByRole("table", { name: "Models" })
      .getByRole("link", { name: /custom-lab\/m1/ })
      .click();
    await dialog.getByRole("button", { name: "Try it" }).click();
    await dialog.getByText("no. It said: Blue.").waitFor();
    await dialog.getByRole("button", { name: "Ask for its window" }).click();
    await dialog.getByText(/which window it serves|serves 16,384/).waitFor();
    expect(await axe()).toEqual([]);
    // The result of the trial is stored, and the address contains the open model.
    await page.reload();
    await dialog.getByText("no. It said: Blue.").waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
