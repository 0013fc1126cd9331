/** Activity, cookies, voice and the palette in a browser. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("around the work", () => {
  const dashboard = withDashboard();

  test("a piece of work is handed out, followed to its end, and is in the timeline", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/activity?tab=handed");
    await page.getByRole("button", { name: "Hand out a piece of work" }).click();
    await page.getByLabel("Agent").selectOption("scribe");
    await typeInto(page.getByLabel("What it should do"), "Write down <b>what</b> changed.");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    const work = page.getByRole("dialog", { name: "Piece of work" });
    await work.getByText("Succeeded").waitFor();
    await work.getByText("Write down <b>what</b> changed.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("table", { name: "Handed out" }).getByText("Write down").waitFor();
    await open("/activity?agent=scribe");
    await page.getByText("finished a piece of work").first().waitFor();
    await open("/activity?tab=now");
    await page.getByRole("link", { name: /What does the cart do with a discount/ }).click();
    await page.waitForURL(/\/chat\/sess_/);
    await close();
    expect(faults).toEqual([]);
  });

  test("a cookie file is added, granted and deleted; a broken one is refused at its line", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/cookies");
    const add = async (text: string) => {
      await page
        .getByLabel("File", { exact: true })
        .setInputFiles({ name: "c.txt", mimeType: "text/plain", buffer: Buffer.from(text) });
      await page.getByRole("button", { name: "Add", exact: true }).click();
    };
    await page.getByRole("button", { name: "Add a cookie file" }).click();
    await typeInto(page.getByLabel("Name"), "Forum");
    await add("# Netscape HTTP Cookie File\nno cookie\n");
    await page
      .getByRole("alert")
      .getByText(/line 2/i)
      .waitFor();
    const line = ["forum.example.test", "FALSE", "/", "TRUE", "4102444800", "sid", "1"].join("\t");
    await add(`# Netscape HTTP Cookie File\n${line}\n`);
    await page.getByRole("link", { name: /Forum/ }).click();
    await page.getByLabel("Researcher").click();
    await page.getByRole("table", { name: "Cookie sets" }).getByText("researcher").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete the set" }).click();
    await page.getByRole("link", { name: /Forum/ }).waitFor({ state: "detached" });
    await close();
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
  });

  test("voice is switched on, and a text that cannot be spoken says why", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/voice");
    await page.getByLabel("Agents may speak").check();
    await page.getByRole("combobox", { name: "Service" }).selectOption("openai");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "Speak" }).click();
    await page.getByRole("alert").getByText(/key/i).waitFor();
    if (Bun.which("espeak-ng")) {
      await page.getByRole("combobox", { name: "Service" }).selectOption("espeak-ng");
      await page.getByText("answers", { exact: true }).waitFor();
      await page.getByLabel("Format").selectOption("wav");
      // An earlier save may still be reported.
      const saved = page.waitForResponse((answer) => answer.request().method() === "PUT");
      await page.getByRole("button", { name: "Save" }).click();
      await saved;
      await page.getByRole("button", { name: "Speak" }).click();
      await page.locator("audio").waitFor();
      await page.getByRole("table", { name: "Speech" }).getByText("espeak-ng").first().waitFor();
    }
    await close();
    expect(faults.filter((fault) => !/(409|422|502|503)/.test(fault))).toEqual([]);
  });

  test("the palette finds tasks, chats, memory and sections of documents, and leads to them", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/");
    const search = async (words: string, option: RegExp, heading: string) => {
      await page.keyboard.press("Control+k");
      await typeInto(page.getByPlaceholder("Where to"), words);
      await page.getByRole("option", { name: option }).click();
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    };
    await search("reports as csv", /Export reports as CSV/, "Export reports as CSV");
    await search("cart do with a discount", /What does the cart do/, "What does the cart do with a discount?");
    await search("one writer", /One writer/, "One writer");
    // Opens a section of a document with Enter: the document opens at that section.
    await page.keyboard.press("Control+k");
    await typeInto(page.getByPlaceholder("Where to"), "discount is taken off before the tax");
    await page.getByRole("option", { name: /Prices/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Prices", level: 2 }).waitFor();
    await page.getByText("A discount is taken off before the tax.").waitFor();
    expect(page.url()).toMatch(/\/documents\/\w+\?section=/);
    await close();
    expect(faults).toEqual([]);
  });

  test("an agent has a voice of its own, and what it leaves out follows the instance", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/agents/scribe?tab=voice");
    await page.getByLabel("Read aloud").selectOption("yes");
    await page.getByLabel("Format").selectOption("wav");
    await typeInto(page.getByLabel("Speed"), "1.25");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "In effect now" }).getByText("1.25").waitFor();
    const own = await server.request("GET", "/v1/agents/scribe/tts-settings");
    expect(own.body).toMatchObject({ enabled: true, format: "wav", speed: 1.25, provider: null, voice_id: null });
    await typeInto(page.getByLabel("Speed"), "");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "In effect now" }).getByText("1.25").waitFor({ state: "detached" });
    await close();
    expect(faults).toEqual([]);
  });
});
