/** What a chat changed in its project, in a browser: it is read, commented on, sent back and merged. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

const write = (content: string) => ({ tool_calls: [{ tool: "write", input: { path: "note.txt", content } }] });
const SCRIPT = { version: 1, chat: [write("one\n"), { text: "Written." }, write("two\n"), { text: "Settled." }] };

describe.skipIf(!hasBrowser())("the changes of a chat", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-chat-changes-"));
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify(SCRIPT));
    [server, browser] = await Promise.all([startServer({ env: { DEMO_SCRIPT: script } }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("are read beside it, commented, sent back as a message, and merged with one click", async () => {
    const project = await server.request<{ id: string }>("POST", "/v1/projects", { body: { name: "Notes" } });
    const body = { agent_id: "scribe", project_id: project.body.id, model: "demo/scripted" };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body })).body;
    await server.request("POST", `/v1/chat/sessions/${id}/message?stream=true`, { body: { message: "Write" } });
    const visitor = await visit(browser, server.url);
    const { page, open, close, faults } = visitor;
    await open(`/chat/${id}`);
    await page.getByText("Written.").waitFor();
    await page.getByRole("link", { name: "Changes" }).click();
    await page.getByText(`chat/${id}`).waitFor();
    const file = page.getByRole("region", { name: "note.txt" });
    await file.getByText("one").first().waitFor();
    expect(await visitor.axe()).toEqual([]);
    await file.locator("[data-comment]").first().click();
    await typeInto(page.getByRole("textbox", { name: /comment/i }), "Say two.");
    await page.getByRole("button", { name: "Keep the comment" }).click();
    await page.getByRole("button", { name: "Send back (1)" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send back" }).click();
    await file.getByText("two").first().waitFor();
    await page.getByRole("button", { name: /Merge into/ }).click();
    await page
      .getByText(/Merged into main/i)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Chat", exact: true }).last().click();
    await page.getByText("Settled.").waitFor();
    await page.getByText("Say two.").first().waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
