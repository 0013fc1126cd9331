/** Routines, swarms and documents in a browser: created, changed, run, viewed and ended, by mouse and by keyboard. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { readFocus, typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("what agents do besides runs", () => {
  const dashboard = withDashboard();

  test("a routine is made with its next times shown, refused with its mistake, run now, changed, deleted", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/routines?new=lead");
    await typeInto(page.getByLabel("Name", { exact: true }), "Friday report");
    await typeInto(page.getByLabel("Instructions"), "Write what was done this week.");
    const next = page.getByRole("region", { name: "Next times" });
    await typeInto(page.getByLabel("Cron"), "0 16 31 2 *");
    await next.getByText("it would never be due").waitFor();
    await page.getByRole("button", { name: "Fridays at 16" }).click();
    await typeInto(page.getByLabel("Time zone"), "Europe/Berlin");
    await typeInto(page.getByLabel("Not at these times"), "22:00-06:00 caturday");
    await next.getByText("“22:00-06:00 caturday” cannot be read").waitFor();
    await typeInto(page.getByLabel("Not at these times"), "22:00-06:00");
    await next.getByText("Fri").nth(5).waitFor();
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Friday report" }).waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    const time = page.getByRole("region", { name: "This time" });
    await time.getByText("One task waits for a person").first().waitFor();
    await time.getByText("Succeeded").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await typeInto(page.getByLabel("Name", { exact: true }), "Weekly report");
    await page.getByLabel("When").selectOption("every");
    await typeInto(page.getByLabel("Minutes between"), "45");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Weekly report" }).waitFor();
    await page.getByText("Every 45 minutes").waitFor();
    const { body } = await server.request<{ items: { name: string; blackouts: unknown; runs: number }[] }>(
      ...(["GET", "/v1/pulse-routines/lead"] as const),
    );
    expect(body.items.find(({ name }) => name === "Weekly report")).toMatchObject({
      blackouts: [{ start: "22:00", end: "06:00" }],
      runs: 1,
      timezone: "Europe/Berlin",
    });
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByText("Off", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the routine" }).click();
    await page.getByRole("table", { name: "Routines" }).waitFor();
    await page.getByText("Weekly report").waitFor({ state: "detached" });
    await close();
    expect(faults.filter((fault) => !/422|404/.test(fault))).toEqual([]);
  });

  test("the calendar shows what came and what is planned; a blackout is marked; weeks are turned", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/routines?tab=calendar");
    const week = page.getByRole("region", { name: "Week" });
    await week
      .getByRole("link", { name: /Succeeded.*Morning round/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "Morning round" }).waitFor();
    expect(page.url()).toContain(ids.routine);
    await open("/routines?tab=calendar");
    await week.getByRole("button", { name: "Week after" }).click();
    await page.waitForURL(/week=/);
    await week
      .getByRole("link", { name: /Planned.*Morning round/ })
      .nth(4)
      .waitFor();
    await week
      .getByText(/48 planned/)
      .first()
      .waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a swarm is started from its text with mistakes named, watched by graph and list, cancelled, one task done again, and all run again", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/swarms/${ids.swarm}`);
    await page
      .getByRole("list", { name: "Tasks" })
      .getByRole("button", { name: /One page for a newcomer/ })
      .click();
    await page.getByText("after tests, prices").waitFor();
    await page.getByRole("button", { name: "Run again" }).click();
    const write = async (text: string) => {
      await editor.press("ControlOrMeta+a");
      await editor.press("Delete");
      await page.keyboard.insertText(text);
    };
    const editor = page.getByRole("textbox", { name: "Plan of the swarm" });
    await editor.getByText("Where prices are computed").waitFor();
    await becomes(async () => (await readFocus(page)).name, "Plan of the swarm");
    await write("agent_id: researcher\ntasks:\n  - key: a\n    prompt: Do a\n    depends_on: [b]\n");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("alert").getByText(/b/).first().waitFor();
    await write("agent_id: architect\ntasks:\n  - key: slow\n    title: Takes its time\n    prompt: Sleep\n");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("heading", { name: "Takes its time", level: 1 }).waitFor();
    const cancel = async () => {
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Cancel it" }).click();
      await page.locator("header").getByText("Cancelled").waitFor();
    };
    await cancel();
    await page.getByRole("button", { name: "Do it again" }).click();
    await page.locator("header").getByText("Running").waitFor();
    await cancel();
    const { body } = await server.request<{ items: { status: string }[] }>("GET", "/v1/swarm?limit=1");
    expect(body.items[0]?.status).toBe("cancelled");
    await close();
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
  });

  test("a document is handed in, read by its outline, found by its words, deleted; a broken file says why", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/documents");
    const hand = async (name: string, content: string) => {
      await page.getByRole("button", { name: "Add a document" }).click();
      await page.getByLabel("File").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
      await page.getByRole("button", { name: "Add", exact: true }).click();
    };
    await hand("tariffs.md", "# Tariffs\n\nAll of them.\n\n## Night\n\nAfter ten the zebra pays half.\n");
    const table = page.getByRole("table", { name: "Documents" });
    await table.getByRole("row", { name: /Tariffs.*Ready/ }).waitFor();
    await hand("scan.pdf", "%PDF-1.7 broken");
    await table.getByRole("row", { name: /Failed/ }).waitFor();
    await typeInto(page.getByRole("searchbox", { name: "Search in documents" }), "zebras pay");
    await page.getByRole("list", { name: "Found" }).getByRole("link", { name: /Night/ }).click();
    await page.getByRole("heading", { name: "Night" }).waitFor();
    await page.getByText("After ten the zebra pays half.").waitFor();
    await page.getByRole("navigation", { name: "Outline" }).getByRole("link", { name: "Tariffs" }).click();
    await page.getByText("All of them.").waitFor();
    await page.getByRole("button", { name: "Next section" }).click();
    await page.getByText("After ten the zebra pays half.").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the document" }).click();
    await table.waitFor();
    await table.getByRole("row", { name: /Tariffs/ }).waitFor({ state: "detached" });
    await close();
    expect(faults.filter((fault) => !/404|422/.test(fault))).toEqual([]);
  });

  test("a transcript is handed in, kept as a document, and processed by an agent whose log is shown", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults, axe } = await visit(browser, server.url);
    await open("/documents");
    await page.getByRole("button", { name: "Add a transcript" }).click();
    await typeInto(
      page.getByLabel("What was said"),
      "Ann: Prices are <b>cents</b> from now on.\nBen: I tell the others.",
    );
    await typeInto(page.getByLabel("Title"), "Weekly meeting");
    await typeInto(page.getByLabel("Who was there"), "Ann, Ben");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "Weekly meeting", level: 1 }).waitFor();
    await page
      .getByText(/from now on\./)
      .first()
      .waitFor();
    await page.getByText(/^It is (at work|done)$/).click();
    await page.getByRole("heading", { name: "Log" }).waitFor();
    expect(await axe()).toEqual([]);
    await close();
    expect(faults).toEqual([]);
  });

  test("a tool server is added, its tools and log are shown, a changed tool is approved again, it is deleted", async () => {
    const { server, browser } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open("/tool-servers");
    await server.request("POST", "/v1/spawn-executor/execute", {
      body: { agent_id: "tester", prompt: "Go" },
    });
    await page.getByRole("row", { name: /odd.*to approve/ }).waitFor();
    await page.getByRole("link", { name: "odd" }).click();
    await page.getByText("Changed: approve it again").first().waitFor();
    await page.getByRole("heading", { name: "What it says now" }).first().waitFor();
    const all = page.getByRole("button", { name: /^Approve/ });
    await all.first().click();
    await page.getByText("Changed: approve it again").first().waitFor({ state: "detached" });
    await open("/tool-servers?new=1");
    await typeInto(page.getByLabel("Id", { exact: true }), "away");
    await typeInto(page.getByLabel("Address"), "http://127.0.0.1:9/mcp");
    await page.getByText("Log-in with a client of your own").click();
    await typeInto(page.getByLabel("Client id"), "skep");
    await typeInto(page.getByLabel("Authorization server"), "http://127.0.0.1:9");
    await page.getByLabel("Forms that it asks for in the middle of a call").selectOption("defaults");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "away" }).waitFor();
    await page.locator("header").getByText("Failed").waitFor();
    expect((await server.request("GET", "/v1/mcp/away")).body).toMatchObject({
      elicitation: "defaults",
      oauth: { client_id: "skep", issuer: "http://127.0.0.1:9" },
    });
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.locator("header").getByText("Ended").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the server" }).click();
    await page.getByRole("table", { name: "Tool servers" }).waitFor();
    expect((await server.request("GET", "/v1/mcp/away")).status).toBe(404);
    await close();
    expect(faults.filter((fault) => !/404|422/.test(fault))).toEqual([]);
  });
});
