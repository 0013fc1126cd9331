/**
 * scripts/bench dashboard: the cost of events for the page of a busy run, in Chromium. For headings and long lists, see
 * `scripts/bench pages`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "../src/testing/browser.ts";
import { busyEnvironment, LOG_LINES, openLog, STEPS, startBusyRun, watch } from "../src/testing/dashboard/busy.ts";
import { startServer } from "../src/testing/server.ts";

/** 20 seconds at 50 events a second. */
const WATCHED_EVENTS = 1_000;

const folder = mkdtempSync(join(tmpdir(), "skep-bench-dashboard-"));
console.log(`load ${loadavg()[0]?.toFixed(1)}`);
const [server, browser] = await Promise.all([
  startServer({ env: busyEnvironment(folder) }),
  openBrowser({ asPeopleHave: true }),
]);
try {
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
