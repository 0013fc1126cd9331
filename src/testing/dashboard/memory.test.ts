/** Memory in a browser: found, corrected, confirmed, pinned, rated, superseded, deleted and put back. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { MemoryEntry } from "../../feature/memory/model.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { PHONE, visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("memory", () => {
  const dashboard = withDashboard();
  const entry = async (id: string) => {
    const path = `/v1/memory/vaults/engineer/entries/${encodeURIComponent(id)}`;
    return dashboard().server.request<MemoryEntry>("GET", path);
  };

  test("a search finds an entry, which is corrected, pinned and rated", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/memory");
    await page.getByRole("table", { name: "Vaults" }).getByText("1 unconfirmed").waitFor();
    await typeInto(page.getByLabel("Search as an agent does"), "writer tests");
    await page.getByRole("link", { name: /One writer/ }).click();
    await page.getByRole("heading", { name: "One writer" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await typeInto(page.getByLabel("Content"), "All exports go through one writer, which quotes always.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("paragraph").getByText("which quotes always.").waitFor();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: "Unpin" }).waitFor();
    await page.getByRole("button", { name: "Useful", exact: true }).click();
    await page.getByText("Rated useful").waitFor();
    const { body } = await entry("decision/one-writer");
    expect(body).toMatchObject({ pinned: true, content: "All exports go through one writer, which quotes always." });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Supersede by another" }).click();
    await typeInto(page.getByRole("combobox", { name: "By" }), "fact/exports-quote-every-name");
    await page.getByRole("button", { name: "Supersede", exact: true }).click();
    await page.getByText("agents read that one").waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("what nobody has confirmed is marked, read and confirmed; a deleted entry is put back; links are listed", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/memory/engineer?state=unconfirmed");
    await page.getByRole("link", { name: /commas are forbidden/ }).click();
    await page.getByText("Nobody has confirmed this").waitFor();
    await page.getByRole("button", { name: "Confirm", exact: true }).click();
    await page.getByText("Nobody has confirmed this").waitFor({ state: "detached" });
    expect((await entry("lesson/commas-are-forbidden")).body.trusted).toBe(true);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.getByRole("table", { name: "Entries" }).waitFor();
    expect((await entry("lesson/commas-are-forbidden")).status).toBe(404);
    await page.getByRole("status").getByRole("button", { name: "Undo" }).last().click();
    await page.getByRole("link", { name: /commas are forbidden/ }).waitFor();
    await page.getByRole("table", { name: "Entries" }).getByText("See one writer and lost.").waitFor();
    await page.getByRole("link", { name: /^Exports quote every name/ }).click();
    await page.getByRole("paragraph").getByText("[[note/lost]]").waitFor();
    await page.getByRole("paragraph").getByRole("link", { name: "One writer" }).click();
    await page.getByRole("heading", { name: "One writer", level: 1 }).waitFor();
    await open("/memory/engineer?tab=links");
    await page
      .getByRole("row", { name: /note\/lost/ })
      .getByText("not there")
      .waitFor();
    await close();
    expect(faults.filter((fault) => !/404/.test(fault))).toEqual([]);
  });

  test("an entry is written by a person, and found at once", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/memory/scribe");
    await page.getByText("This vault is empty.").waitFor();
    await page.getByRole("button", { name: "Write the first" }).click();
    await typeInto(page.getByLabel("Title"), "Manuals use short sentences");
    await typeInto(page.getByLabel("Content"), "<img src=x onerror=alert(1)> **Short** ones.");
    await page.getByRole("button", { name: "Write it" }).click();
    await page.getByRole("heading", { name: "Manuals use short sentences" }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await close();
    expect(faults).toEqual([]);
  });

  test("a vault is gone through, and of two entries that contradict each other one is said to hold", async () => {
    const { server, browser } = dashboard();
    const write = (title: string, content: string) =>
      server.request("POST", "/v1/memory/vaults/reviewer/entries", { body: { title, content, type: "fact" } });
    await write("Deploy day", "The shop is deployed on Tuesday at 9.");
    await write("Day of deploys", "The shop is deployed on Friday at 9.");
    const { page, close, open, faults, axe, overflow } = await visit(browser, server.url);
    await open("/memory/reviewer?tab=contradictions");
    await page.getByText("No two entries are known to contradict each other.").waitFor();
    await page.getByRole("button", { name: "Go through it now" }).click();
    await page.getByText("Done: 0 entries merged, 1 contradiction listed.").waitFor();
    const pair = page.getByRole("list", { name: "Contradictions" });
    await pair.getByRole("region", { name: "Deploy day" }).getByText("Only here:").waitFor();
    expect(await axe()).toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await pair.getByRole("button", { name: "This one holds: Deploy day" }).click();
    await page.getByText("No two entries are known to contradict each other.").waitFor();
    const path = `/v1/memory/vaults/reviewer/entries/${encodeURIComponent("fact/day-of-deploys")}`;
    const { body } = await server.request<MemoryEntry>("GET", path);
    expect(body.superseded_by).toBe("fact/deploy-day");
    await close();
    expect(faults).toEqual([]);
  });
});
