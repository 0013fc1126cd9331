/** scripts/bench dashboard: how soon pages are there, and what events do to the page of a busy run, in Chromium. Long lists: `scripts/bench pages`. */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "../src/testing/browser.ts";
import {
  busyEnvironment,
  LOG_LINES,
  NOTE_HEADING,
  openLog,
  STEPS,
  startBusyRun,
  watch,
} from "../src/testing/dashboard/busy.ts";
import { startServer } from "../src/testing/server.ts";

const ROUNDS = 5;
/** 20 seconds at 50 events a second. */
const WATCHED_EVENTS = 1_000;
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

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
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await browser.close();
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
}
