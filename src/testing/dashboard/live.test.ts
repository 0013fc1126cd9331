/** Live pages under load and during faults: reloads, two tabs, a restart, no connection, an ended log-in. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { hasBrowser, openBrowser, PATIENCE_MS } from "../browser.ts";
import { expectWork } from "../busy-machine.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { startServer, type TestServer } from "../server.ts";
import { busyEnvironment, LOG_LINES, openLog, STEPS, startBusyRun, watch } from "./busy.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

/** In processor time, so that a busy machine does not matter. `scripts/bench dashboard` also measures by the clock. */
const LONG_TASK_MS = 50;
/** Six seconds of the run, if the machine keeps up with it. */
const WATCHED_EVENTS = 300;

describe.skipIf(!hasBrowser())("live pages", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-live-"));
  const env = busyEnvironment(folder);
  let server: TestServer;
  let browser: Browser;
  let run: string;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
    run = await startBusyRun(server);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const newContext = async () => {
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  const log = (page: Page) => page.getByRole("log", { name: "Log of the step" });
  /** Numbers of the step's words, as the page shows them. */
  const readWords = async (page: Page, name: string): Promise<number[]> =>
    [...((await log(page).textContent()) ?? "").matchAll(new RegExp(`${name} says word (\\d+)[,.]`, "g"))].map(
      ([, at]) => Number(at),
    );
  const isWhole = (numbers: number[]) => expect(numbers).toEqual(numbers.map((_, at) => at));
  /** Waits until the step has said more. */
  const further = async (page: Page, name: string, than: number) => {
    await log(page)
      .getByText(new RegExp(`${name} says word ${than + 8}[,.]`))
      .waitFor();
  };

  /** Ids of the events that the server has emitted, from one to the other. */
  const listEventIds = async (first: number, last: number): Promise<number[]> => {
    const frames = framesOf<{ id: number }>(server, `/v1/events/stream?after=${first - 1}`);
    return (await framesUntil(frames, ({ data }) => data.id >= last)).map(({ data }) => data.id);
  };

  test("of a run of 40 steps and 5,000 lines every event reaches the page, and none keeps it for long", async () => {
    const { page, close, faults } = await visit(browser, server.url);
    await openLog(page, server.url, run);
    const text = (await log(page).textContent()) ?? "";
    expect(text.match(/line \d+ of \d\.\d/g)?.length).toBe(LOG_LINES);
    expect(await page.getByRole("list", { name: "Steps" }).getByRole("listitem").count()).toBe(STEPS);
    const { events, busiest } = await watch(browser, page, WATCHED_EVENTS);
    expect(events).toEqual(await listEventIds(events[0]!, events.at(-1)!));
    expect(busiest.length).toBeGreaterThan(0);
    expectWork("the longest task of the page", busiest[0]!, LONG_TASK_MS);
    await close();
    expect(faults).toEqual([]);
  });

  // This comes early, because an agent whose reply the restart interrupts says it again from the start.
  test("the server is restarted while agents speak in a run and in a chat: the open pages lose and double no word", async () => {
    const context = await newContext();
    const [page, chat] = [await context.newPage(), await context.newPage()];
    const { id } = (await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body: { agent_id: "scribe" } }))
      .body;
    await page.goto(`${server.url}/runs/${run}?step=one`);
    await chat.goto(`${server.url}/chat/${id}`);
    await typeInto(chat.getByRole("textbox", { name: "Message", exact: true }), "Speak.");
    await chat.keyboard.press("Enter");
    const readChatWords = async (of: Page) =>
      [...((await of.getByRole("main").textContent()) ?? "").matchAll(/chat says word (\d+)[,.]/g)].map(([, at]) =>
        Number(at),
      );
    await Promise.all([further(page, "one", 0), chat.getByText(/chat says word 8[,.]/).waitFor()]);
    const before = (await readWords(page, "one")).length;
    const { port } = new URL(server.url);
    await server.stop();
    await Promise.all([page, chat].map((one) => one.getByText("The server does not answer").waitFor()));
    isWhole(await readWords(page, "one"));
    server = await startServer({ env: { ...env, PORT: port }, data: server.data });
    await Promise.all(
      [page, chat].map((one) => one.getByText("The server does not answer").waitFor({ state: "detached" })),
    );
    await further(page, "one", before);
    isWhole(await readWords(page, "one"));
    // Another page now shows what the server has. The open page must show the same, once.
    const fresh = await context.newPage();
    await fresh.goto(`${server.url}/chat/${id}`);
    await fresh
      .getByText(/chat says word 8[,.]/)
      .first()
      .waitFor();
    const [now, held] = [await readChatWords(chat), await readChatWords(fresh)];
    expect(now.slice(0, held.length)).toEqual(held.slice(0, now.length));
    expect(await chat.getByRole("article", { name: "You" }).count()).toBe(1);
    await context.close();
  });

  test("a reload while an agent speaks shows what it said before, and loses and doubles no word", async () => {
    const { page, close, faults } = await visit(browser, server.url);
    await page.goto(`${server.url}/runs/${run}?step=one`);
    await further(page, "one", 0);
    const before = await readWords(page, "one");
    isWhole(before);
    await page.reload();
    await further(page, "one", before.length);
    isWhole(await readWords(page, "one"));
    await close();
    expect(faults).toEqual([]);
  });

  test("two tabs have one stream; the second takes it over when the first is closed, and misses nothing", async () => {
    const context = await newContext();
    const streams: Page[] = [];
    const tab = async (): Promise<Page> => {
      const page = await context.newPage();
      page.on("request", (request) => {
        if (request.url().includes("/v1/events/stream")) streams.push(page);
      });
      await page.goto(`${server.url}/runs/${run}?step=two`);
      await further(page, "two", 0);
      return page;
    };
    const [first, second] = [await tab(), await tab()];
    expect(streams).toEqual([first]);
    const at = (await readWords(second, "two")).length;
    await first.close();
    await further(second, "two", at + 20);
    isWhole(await readWords(second, "two"));
    expect(streams).toEqual([first, second]);
    await context.close();
  });

  test("without a connection the page says so, and shows what was said meanwhile when it is back", async () => {
    const { page, close } = await visit(browser, server.url);
    await page.goto(`${server.url}/runs/${run}?step=three`);
    await further(page, "three", 0);
    const at = (await readWords(page, "three")).length;
    await page.context().setOffline(true);
    await page.getByText("This machine is offline").waitFor();
    await page.context().setOffline(false);
    await page.getByText("This machine is offline").waitFor({ state: "detached" });
    await further(page, "three", at);
    isWhole(await readWords(page, "three"));
    await close();
  });

  test("requests that the browser drops are made again, those of the first view as well; a change is sent once", async () => {
    const { page, close, open, faults } = await visit(browser, server.url);
    const dropped = new Set<string>();
    const sent: string[] = [];
    await page.route("**/*", (route) => {
      const request = route.request();
      const what = `${request.method()} ${request.url()}`;
      if (request.method() !== "GET") sent.push(what);
      // The page itself contains the script that handles the others, so it is not dropped.
      if (request.isNavigationRequest() || /favicon/.test(what) || dropped.has(what)) return route.continue();
      dropped.add(what);
      return route.abort("connectionaborted");
    });
    await open(`/runs/${run}?step=two`);
    await further(page, "two", 0);
    isWhole(await readWords(page, "two"));
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByRole("navigation").getByRole("link", { name: "Board" }).click();
    await page.getByRole("heading", { name: "Board", level: 1 }).waitFor();
    await page.evaluate(`history.pushState(null, "", "/runs/new?pipeline=hello&task=Greet")`);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("The server does not answer").waitFor();
    expect(sent).toEqual([`POST ${server.url}/v1/runs`]);
    await close();
    expect([...dropped].filter((what) => /assets\/.*js/.test(what)).length).toBeGreaterThan(3);
    expect(faults.filter((fault) => !fault.endsWith("Failed to load resource: net::ERR_CONNECTION_ABORTED"))).toEqual(
      [],
    );
  });

  test("without its first script the page loads once more, then stays empty; without one of a part it says so where the part would be, and has it when that is tried again", async () => {
    const [, entry = ""] = (await (await fetch(server.url)).text()).match(/type="module" src="([^"]+)"/) ?? [];
    for (const missing of [entry, "/assets/board-page-"]) {
      const { page, close } = await visit(browser, server.url);
      let views = 0;
      let isGone = true;
      const askedAgain = Promise.withResolvers<void>();
      await page.route("**/*", (route) => {
        if (route.request().isNavigationRequest()) views++;
        if (!isGone || !new URL(route.request().url()).pathname.startsWith(missing)) return route.continue();
        if (views === 2 || missing !== entry) askedAgain.resolve();
        return route.abort("connectionaborted");
      });
      await page.goto(`${server.url}/board`, { waitUntil: "commit" });
      await askedAgain.promise;
      if (missing !== entry) await page.getByText("This page could not be drawn").waitFor();
      // Longer than a page waits before it reloads.
      await page.waitForTimeout(1_500);
      expect([missing, views]).toEqual([missing, missing === entry ? 2 : 1]);
      isGone = false;
      if (missing !== entry) {
        await page.getByRole("main").getByRole("button", { name: "Try again" }).click();
        await page.getByRole("heading", { name: "Board", level: 1 }).waitFor();
        expect(views).toBe(1);
      }
      await close();
    }
  });
});
