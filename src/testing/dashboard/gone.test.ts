/** In a browser: pages of things that were deleted, and the question before something is deleted or lost. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

const NONE = "00000000000000000000000000";

describe.skipIf(!hasBrowser())("what is gone", () => {
  const dashboard = withDashboard();

  test("a link to something that was deleted says so and leads to the list", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, go, close } = await visit(browser, server.url);
    await open("/");
    const lists: [path: string, list: string][] = [
      [`/runs/run_${NONE}`, "/runs"],
      [`/chat/sess_${NONE}`, "/chat"],
      [`/changes/run_${NONE}`, "/activity"],
      [`/projects/proj_${NONE}`, "/projects"],
      [`/projects/proj_${NONE}/members`, "/projects"],
      [`/projects/proj_${NONE}/policy`, "/projects"],
      [`/projects/proj_${NONE}/graph`, "/projects"],
      [`/board?project=proj_${NONE}`, "/projects"],
      [`/projects/${ids.project}/tasks/task_${NONE}`, "/board"],
      [`/onboarding/onb_${NONE}`, "/onboarding"],
      ["/pipelines/none", "/pipelines"],
      ["/agents/none", "/agents"],
      ["/skills/none", "/skills"],
      ["/memory/engineer?entry=fact%2Fnone", "/memory/engineer"],
      ["/routines/lead/none", "/routines"],
      [`/swarms/swm_${NONE}`, "/swarms"],
      [`/evals/eval_${NONE}`, "/evals"],
      [`/documents/doc_${NONE}`, "/documents"],
      ["/tool-servers/none", "/tool-servers"],
    ];
    for (const [path, list] of lists) {
      await go(path);
      const alert = page.locator("main").getByRole("alert");
      await alert.getByText(/^There is no such .+ It was deleted, or you may not see it\.$/).waitFor();
      expect(await alert.getByRole("link").getAttribute("href")).toBe(list);
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    }
    await close();
  });

  test("the open page of a task that is deleted elsewhere says so, and keeps what it showed", async () => {
    const { server, browser, ids } = dashboard();
    const path = `/v1/projects/${ids.project}/tasks`;
    const made = await server.request<{ id: string }>("POST", path, { body: { title: "Short-lived" } });
    const { page, open, close } = await visit(browser, server.url);
    await open(`/projects/${ids.project}/tasks/${made.body.id}`);
    await server.request("DELETE", `${path}/${made.body.id}`);
    await page.getByRole("alert").getByText("There is no such task. It was deleted").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Short-lived");
    await page.getByRole("alert").getByRole("link", { name: "Board" }).click();
    await page.getByRole("heading", { level: 1, name: "Board" }).waitFor();
    await close();
  });

  test("the browser's back button asks before it drops what was typed into a dialog", async () => {
    const { server, browser } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open("/agents");
    await page.evaluate(`history.pushState(null, "", "/secrets")`);
    await page.getByRole("heading", { level: 1, name: "Secrets" }).waitFor();
    await page
      .getByRole("button", { name: /^(Add|New)/ })
      .first()
      .click();
    const name = page.getByRole("dialog").getByLabel("Name");
    await typeInto(name, "HALF");
    await page.goBack();
    const question = page.getByRole("dialog", { name: "Not saved yet" });
    await question.getByRole("button", { name: "Stay here" }).click();
    expect(await name.inputValue()).toBe("HALF");
    expect(new URL(page.url()).pathname).toBe("/secrets");
    await page.goBack();
    await question.getByRole("button", { name: "Leave", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a provider is forgotten and runs are canceled only after a question", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, go, close, faults } = await visit(browser, server.url);
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    await open("/providers?provider=anthropic");
    const form = page.getByRole("dialog", { name: "Anthropic" });
    await typeInto(form.getByLabel("API key"), "sk-ant-to-be-kept");
    await press("Save");
    await form.waitFor({ state: "detached" });
    const isConfigured = async () => {
      const { body } = await server.request<{ configured: boolean }>("GET", "/v1/settings/providers/anthropic");
      return body.configured;
    };
    await go("/providers?provider=anthropic");
    await press("Forget…");
    await page.getByRole("dialog", { name: "Forget Anthropic?" }).waitFor();
    await press("Keep");
    expect(await isConfigured()).toBe(true);
    await go("/providers?provider=anthropic");
    await press("Forget…");
    await press("Forget the provider");
    await page.getByText("Anthropic is forgotten.").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await isConfigured()).toBe(false);
    await go("/runs?status=running,queued");
    const statusOf = async () =>
      (await server.request<{ status: string }>("GET", `/v1/runs/${ids.running}`)).body.status;
    await page
      .getByRole("row", { name: /Run every test/ })
      .getByRole("checkbox")
      .click();
    await press("Cancel");
    await page.getByRole("dialog", { name: "Cancel 1 run?" }).waitFor();
    expect(await statusOf()).toBe("running");
    await press("Cancel the run");
    await page.getByText("1 run cancelled.").waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
