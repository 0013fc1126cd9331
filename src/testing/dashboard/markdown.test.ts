/**
 * Outside Markdown on every page that shows some: each construct is rendered, and what cannot be rendered is shown as
 * written.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type Account, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { corpus } from "./markdown-corpus.ts";
import { complete } from "./script.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("foreign Markdown", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-markdown-"));
  let [server, browser]: [TestServer?, Browser?] = [];
  let admin: Account;
  /** Addresses of the pages, by the mark in the text that they show. */
  const pages: Record<string, string> = {};
  beforeAll(async () => {
    const script = join(folder, "script.json");
    const steps = { look: [complete({ findings: corpus("outputs") }, corpus("summary"))] };
    writeFileSync(script, JSON.stringify({ version: 1, steps, chat: [{ text: corpus("chat") }] }));
    [server, browser] = await Promise.all([
      startServer({ env: { AUTH_ENABLED: "true", RATE_LIMIT: "0", ALLOW_HOST_SHELL: "true", DEMO_SCRIPT: script } }),
      openBrowser(),
    ]);
    admin = await setupAdmin(server);
    Object.assign(pages, await furnish(server, admin, await makeUser(server, admin, "other@example.test")));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const visitAsAdmin = async () => {
    const visitor = await visit(browser!, server!.url);
    const headers = { "content-type": "application/json" };
    const data = { email: admin.email, password: PASSWORD, session: "cookie" };
    await visitor.page.context().request.post(`${server!.url}/v1/auth/login`, { headers, data });
    return visitor;
  };
  const findShown = (page: Page, mark: string) => page.locator("main .prose").getByText(`Begin ${mark}`).first();

  test("every construct is drawn on every page, another user's approval on Home among them", async () => {
    const { page, open, waitUntilSettled, close, faults, overflow } = await visitAsAdmin();
    const wide: string[] = [];
    for (const [mark, path] of Object.entries(pages)) {
      await open(path);
      await page.evaluate(
        `for (const one of document.querySelectorAll("main details:not([open]) > summary")) one.click()`,
      );
      await findShown(page, mark).waitFor();
      await waitUntilSettled();
      expect(
        await page.locator("main").getByText("Terms & conditions\u00a0<b> © ½ &notanentity;").count(),
      ).toBeGreaterThan(0);
      // A document is read section by section, and the text's headings are sections.
      if (mark !== "document") expect(await page.locator("main").getByText(`End ${mark}`).count()).toBeGreaterThan(0);
      expect(
        await page.locator("main img, main script, main a[href^='javascript' i], main a[href^='data' i]").count(),
      ).toBe(0);
      if ((await overflow()) > 0) wide.push(path);
    }
    await close();
    expect({ faults, wide }).toEqual({ faults: [], wide: [] });
  });

  test("a section whose answer cannot be drawn says so, and the rest of the page stays", async () => {
    const { page, open, close } = await visitAsAdmin();
    const odd = { items: [null], next_cursor: null };
    await page.route("**/v1/approvals?*", (route) => route.fulfill({ json: odd }));
    await open("/");
    await page.locator("main").getByRole("alert").first().waitFor();
    for (const name of ["Home", "Running"]) await page.getByRole("heading", { name }).waitFor();
    await close();
  });

  test("a text whose drawing fails is shown as it was written, the page around it stays, and it is drawn once it can be", async () => {
    const { page, open, close } = await visitAsAdmin();
    let isGone = true;
    await page.route(/assets\/markdown-.*\.js/, (route) => (isGone ? route.abort() : route.continue()));
    // Without an answer to this request, the page does not reload itself.
    await page.route("**/v1/status", (route) => (isGone ? route.abort() : route.continue()));
    const path = pages["task"];
    await open(path ?? "");
    await page.getByText("Terms &amp; conditions&nbsp;").waitFor();
    await page.getByRole("button", { name: "Start agents" }).waitFor();
    isGone = false;
    await page.context().setOffline(true);
    await page.context().setOffline(false);
    await findShown(page, "task").waitFor();
    await becomes(() => page.getByText("Terms &amp; conditions&nbsp;").count(), 0);
    await close();
  });
});

/** @returns the page of each text, by its mark. */
async function furnish(server: TestServer, admin: Account, other: Account): Promise<Record<string, string>> {
  const send = async <T = { id: string }>(
    { token }: Account,
    method: string,
    path: string,
    body?: object,
  ): Promise<T> => {
    const answer = await server.request<T>(method, path, { token, ...(body ? { body } : {}) });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await send(admin, "POST", "/v1/agents", { id: "writer", prompt: "You write.", model: "demo/scripted" });
  const steps = [
    { id: "look", agent: "writer", input: "Look", outputs: ["findings"] },
    { id: "ok", approval: { message: corpus("approval") }, needs: ["look"] },
  ];
  await send(admin, "POST", "/v1/pipelines", { id: "asks", name: "Asks", defaults: { model: "demo/scripted" }, steps });
  const run = await send(other, "POST", "/v1/runs", { pipeline_id: "asks", task_description: "Ask" });
  const isWaiting = async () =>
    (await send<{ status: string }>(admin, "GET", `/v1/runs/${run.id}`)).status === "waiting";
  const chat = await send(admin, "POST", "/v1/chat/sessions", { agent_id: "writer" });
  await send(admin, "POST", `/v1/chat/sessions/${chat.id}/message`, { message: corpus("asked") });
  const isAnswered = async () =>
    JSON.stringify(await send(admin, "GET", `/v1/chat/sessions/${chat.id}`)).includes("End chat");
  const entry = { title: "Entry", content: corpus("memory") };
  const memory = await send(admin, "POST", "/v1/memory/vaults/writer/entries", entry);
  const project = await send(admin, "POST", "/v1/projects", { name: "Texts" });
  const task = { title: "Task", description: corpus("task") };
  const { id } = await send(admin, "POST", `/v1/projects/${project.id}/tasks`, task);
  const content = `# Chapter\n\n${corpus("document")}`;
  const document = await send(admin, "POST", "/v1/ingest/document", {
    title: "Document",
    content,
    media_type: "text/markdown",
  });
  await send(admin, "POST", "/v1/skills", { name: "texts", description: "T", content: corpus("skill") });
  const isRead = async () =>
    (await send<{ status: string }>(admin, "GET", `/v1/documents/${document.id}`)).status === "ready";
  for (const ready of [isWaiting, isAnswered, isRead]) await becomes(ready, true);
  return {
    approval: "/",
    chat: `/chat/${chat.id}`,
    memory: `/memory/writer?entry=${encodeURIComponent(memory.id)}`,
    task: `/projects/${project.id}/tasks/${id}`,
    document: `/documents/${document.id}`,
  };
}
