/** Chats in a browser: started, answered live, resumed by a reload, queued, stopped, taken back, forked, ended. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import type { ChatDetail, ChatSession } from "../../feature/chat/model.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("chat", () => {
  const dashboard = withDashboard();
  const detail = async (id: string) =>
    (await dashboard().server.request<ChatDetail>("GET", `/v1/chat/sessions/${id}`)).body;
  const say = async (page: Page, text: string) => {
    await typeInto(page.getByRole("textbox", { name: "Message", exact: true }), text);
    await page.keyboard.press("Enter");
  };
  const chatWith = async (agent_id: string) =>
    (await dashboard().server.request<ChatSession>("POST", "/v1/chat/sessions", { body: { agent_id } })).body.id;
  const answering = (page: Page) => page.getByRole("article", { name: /, answering$/ });

  test("is started with an agent, and answered with tools as cards and Markdown that can do nothing", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/chat");
    await page.getByRole("button", { name: "New chat" }).first().click();
    await page.getByLabel("Agent").last().selectOption("scribe");
    const hostile =
      "<img src=x onerror=document.title='owned'> [x](javascript:alert(1)) ![p](https://example.com/p.png)";
    await typeInto(page.getByLabel("First message"), hostile);
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForURL(/\/chat\/sess_/);
    await page.getByRole("table").getByText("10 %").waitFor();
    await page.locator("summary").filter({ hasText: /^ls/ }).click();
    await page.getByText("Input", { exact: true }).waitFor();
    expect(await page.getByRole("article", { name: "You" }).textContent()).toContain("<img src=x");
    await say(page, "second");
    await page.getByText("and nothing else does").waitFor();
    expect(await page.locator('main img, main a[href^="javascript"]').count()).toBe(0);
    await close();
    expect(faults).toEqual([]);
  });

  test("a reload in the middle of a reply continues it, nothing lost or doubled; a draft is kept", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    // The answer takes nine seconds. On a busy machine it may be complete before the page is there again.
    const id = await chatWith("reviewer");
    await open(`/chat/${id}`);
    await say(page, "three");
    const answer = page.getByRole("article", { name: /^Reviewer/ }).filter({ hasText: "It takes a while" });
    await answer.getByText("one, two, three").waitFor();
    await typeInto(page.getByRole("textbox", { name: "Message", exact: true }), "A draft, half");
    await page.reload();
    const text = async () => (await answer.locator(".prose").textContent()) ?? "";
    const whole = `It takes a while: ${"one, two, three, four, five. ".repeat(60)}That was all.`;
    for (const shown of [await text(), await text()]) expect(whole.startsWith(shown.trim())).toBe(true);
    expect(await page.getByRole("textbox", { name: "Message", exact: true }).inputValue()).toBe("A draft, half");
    await becomes(async () => (await text()).trim(), whole);
    await answering(page).waitFor({ state: "detached" });
    expect(await page.getByText("It takes a while").count()).toBe(1);
    expect((await text()).trim()).toBe(whole);
    await close();
    expect(faults).toEqual([]);
  });

  test("messages wait, are changed and withdrawn; Escape stops the reply and keeps what was said", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    const id = await chatWith("engineer");
    await open(`/chat/${id}`);
    await say(page, "three");
    await answering(page).getByText("I think about it").waitFor();
    await say(page, "waits");
    await say(page, "goes");
    const queue = page.getByRole("list", { name: "Waiting messages" }).getByRole("listitem");
    await queue.nth(1).getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("goes", { exact: true }).waitFor({ state: "detached" });
    await queue.first().getByRole("button", { name: "Edit" }).click();
    await typeInto(page.getByRole("textbox", { name: "Waiting message" }), "waited");
    await queue.getByRole("button", { name: "Save" }).click();
    await queue.getByText("waited").waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).focus();
    await page.keyboard.press("Escape");
    await page.getByText("That is all I know of waited").waitFor();
    const said = (await detail(id)).messages.map(({ role, content }) => [role, content.slice(0, 16)]);
    expect(said.slice(-4)).toEqual([
      ["user", "three"],
      ["assistant", "I think about it"],
      ["user", "waited"],
      ["assistant", "That is all I kn"],
    ]);
    await close();
    expect(faults).toEqual([]);
  });

  test("a pasted file goes with the message; a message is taken back and edited, a chat forked, renamed and ended", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    const { id } = (
      await server.request<ChatSession>("POST", `/v1/chat/sessions/${ids.chat}/fork`, {
        body: { message_id: (await detail(ids.chat)).messages.at(-2)!.id },
      })
    ).body;
    await open(`/chat/${id}`);
    await page.setInputFiles("input[type=file]", {
      name: "notes.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("Mind the commas."),
    });
    await page.getByRole("list", { name: "Files to send" }).getByText("notes.txt").waitFor();
    await page.getByRole("img", { name: "uploading" }).waitFor({ state: "detached" });
    await say(page, "Read this");
    await page.getByRole("article", { name: "You" }).getByText("notes.txt").waitFor();
    await page.getByText("and nothing else does").waitFor();
    const last = page.getByRole("article", { name: "You" }).last();
    await last.getByRole("button", { name: "More about this message" }).click();
    await page.getByRole("menuitem", { name: "Take back to here and edit" }).click();
    await page.getByText("2 messages taken back").waitFor();
    expect(await page.getByRole("textbox", { name: "Message", exact: true }).inputValue()).toBe("Read this");
    const first = page.getByRole("article", { name: "You" }).first();
    await first.getByRole("button", { name: "More about this message" }).click();
    const large = join(server.data, "workspaces", id, "large.bin");
    mkdirSync(dirname(large), { recursive: true });
    writeFileSync(large, "");
    // The file is larger than a commit accepts, and than is copied.
    truncateSync(large, 101 * 1024 ** 2);
    await page.getByRole("menuitem", { name: "Fork the chat from here" }).click();
    await page.getByText("1 file could not be copied").waitFor();
    await page.waitForURL((url) => url.pathname.startsWith("/chat/") && !url.pathname.endsWith(id));
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await typeInto(page.getByLabel("Title"), "Discounts");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Discounts" }).waitFor();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "End the chat" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End the chat" }).click();
    await page.getByText("This chat has ended").waitFor();
    await open("/chat?status=ended");
    await page.getByText("Discounts").waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
