/** scripts/bench dashboard: how soon pages are there, what events do to the page of a busy run, and what long lists cost, in Chromium. */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { openBrowser } from "../src/testing/browser.ts";
import {
  busyEnvironment,
  LOG_LINES,
  openLog,
  STEPS,
  startBusyRun,
  tasksOf,
  watch,
} from "../src/testing/dashboard/busy.ts";
import { startServer } from "../src/testing/server.ts";
import { fillYear } from "../src/testing/year-data.ts";

const ROUNDS = 5;
/** 20 seconds at 50 events a second. */
const WATCHED_EVENTS = 1_000;
const ROWS = 1_000;
const KEYS = ["j", "j", "x", "End", "k", "j", "x"];
/** Notes in each frame whether the heading is there, by the page's own clock, which begins with the navigation. */
const NOTE_HEADING = `requestAnimationFrame(function look() {
  if (document.querySelector("main h1")?.getClientRects().length) window.headingAt = performance.now();
  else requestAnimationFrame(look);
})`;
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** A list of runs, grown to a thousand rows page by page: the longest task of each page, and of keys among them. */
async function longList(browser: Browser, data: string): Promise<void> {
  const first = await startServer({ data });
  const body = { pipeline_id: "hello", task_description: "Greet somebody" };
  const { id } = (await first.request<{ id: string }>("POST", "/v1/runs", { body })).body;
  await first.request("GET", `/v1/events/stream?run_id=${id}`);
  await first.stop();
  fillYear(join(data, "skep.db"), {
    runs: ROWS,
    events: 0,
    owners: [null],
    agents: ["engineer"],
    pipelines: ["hello"],
  });
  const server = await startServer({ data });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/runs`);
    const rows = page.getByRole("table", { name: "Runs" }).locator("tbody tr");
    const more = page.getByRole("button", { name: "Show more" });
    await rows.nth(20).waitFor();
    const grown: number[] = [];
    for (let count = await rows.count(); count < ROWS; count = await rows.count()) {
      const wanted = Math.min(ROWS, count + 200);
      const [longest = 0] = await tasksOf(browser, page, async () => {
        await more.click();
        await rows.nth(wanted - 1).waitFor();
      });
      grown.push(longest);
    }
    const [key = 0] = await tasksOf(browser, page, async () => {
      for (const one of KEYS) await page.keyboard.press(one);
    });
    console.log(
      `${ROWS} runs, 200 more at a time: longest task by processor time ${grown.join(", ")} ms each; by keys ${key} ms`,
    );
  } finally {
    await server.remove();
  }
}

const folder = mkdtempSync(join(tmpdir(), "skep-bench-dashboard-"));
console.log(`load ${loadavg()[0]?.toFixed(1)}`);
const [server, browser] = await Promise.all([startServer({ env: busyEnvironment(folder) }), openBrowser()]);
try {
  // An empty cache each time: what a first visit takes.
  for (const path of ["/", "/runs", "/agents", "/board", "/usage", "/pipelines/hello"]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.addInitScript(NOTE_HEADING);
      await page.goto(server.url + path);
      await page.locator("main h1").first().waitFor();
      times.push((await page.evaluate("window.headingAt")) as number);
      await context.close();
    }
    console.log(`${path.padEnd(20)} heading after ${Math.round(median(times))} ms (median of ${ROUNDS}, empty cache)`);
  }
  const run = await startBusyRun(server);
  const page = await browser.newPage();
  await openLog(page, server.url, run);
  const { events, seconds, longTasks, busiest } = await watch(browser, page, WATCHED_EVENTS);
  console.log(
    `a run of ${STEPS} steps, ${LOG_LINES} lines: ${(events.length / seconds).toFixed(0)} events a second for ${seconds.toFixed(0)} s`,
  );
  console.log(`longest tasks by processor time: ${busiest.join(", ")} ms`);
  console.log(`tasks over 50 ms by the clock: ${longTasks.length}, the longest ${Math.max(0, ...longTasks)} ms`);
  await page.close();
  await longList(browser, join(folder, "rows"));
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await browser.close();
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
}
