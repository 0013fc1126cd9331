/**
 * Pages with a year's data and long lists, in Chromium: how soon their headings appear, and the longest task caused by
 * what a person does with them, by the processor time of the page's main thread.
 *   scripts/bench pages [--runs 10000] [--rows 1000] [--steps 200] [--files 2000]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import type { Browser, ElementHandle, Page } from "playwright-core";
import { openBrowser } from "../src/testing/browser.ts";
import { NOTE_HEADING, tasksOf } from "../src/testing/dashboard/busy.ts";
import { commitManyFiles } from "../src/testing/dashboard/many-files.ts";
import { seed, seedEnvironment } from "../src/testing/dashboard/seed.ts";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { fillFolder } from "./year-folder.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    rows: { type: "string", default: "1000" },
    steps: { type: "string", default: "200" },
    files: { type: "string", default: "2000" },
  },
});
const ROWS = Number(values.rows);
const ROUNDS = 5;
const PAGES = [
  "/",
  "/runs",
  "/activity",
  "/usage",
  "/agents",
  "/inbox",
  "/board",
  "/pipelines/hello",
  "/system?tab=audit",
  "/system",
];
const LIST_KEYS = ["j", "j", "x", "End", "k", "j", "x"];
const LONG_MS = 50;
const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

const say = (what: string, tasks: number[]) =>
  console.log(
    `${what.padEnd(44)} longest task ${tasks[0] ?? 0} ms, ${tasks.filter((ms) => ms > LONG_MS).length} over ${LONG_MS} ms`,
  );

/** When the heading appears with an empty cache, as on a first visit. */
async function headingAt(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(NOTE_HEADING);
  await page.goto(url);
  await page.locator("main h1").first().waitFor();
  const ms = (await page.evaluate("window.headingAt")) as number;
  await context.close();
  return ms;
}

async function measureHeadings(browser: Browser, server: TestServer): Promise<void> {
  // The first page is not counted, because it includes the browser's start.
  await headingAt(browser, server.url);
  for (const path of PAGES) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await headingAt(browser, server.url + path));
    console.log(`${path.padEnd(44)} heading after ${Math.round(median(times))} ms`);
  }
}

interface Long {
  what: string;
  path: string;
  /** Selector of a row. */
  row: string;
  /** Name of the button that loads further rows. */
  more?: string;
  keys?: string[];
}

/**
 * Opens a page, loads more until its list has `ROWS` rows or no more exist, presses keys in it, and scrolls through all
 * of it.
 */
async function use(browser: Browser, url: string, { what, path, row, more, keys = LIST_KEYS }: Long): Promise<void> {
  const page = await browser.newPage();
  say(
    `${what}: opened`,
    await tasksOf(browser, page, async () => {
      await page.goto(url + path);
      await page.locator(row).first().waitFor();
      await waitForRows(page, row);
    }),
  );
  const count = () => page.locator(row).count();
  const tasks: number[] = [];
  let rows = await count();
  const growBy = async (handle: ElementHandle) => {
    await handle.click();
    await page.locator(row).nth(rows).waitFor();
    await waitForRows(page, row);
  };
  while (more && rows < ROWS) {
    // Find the button before the measurement: finding it by name makes the test read the names of all buttons.
    const [handle] = await page.getByRole("button", { name: more }).elementHandles();
    if (!handle) break;
    tasks.push(...(await tasksOf(browser, page, () => growBy(handle))));
    rows = await count();
  }
  if (more)
    say(
      `${what}: to ${rows} rows`,
      tasks.toSorted((a, b) => b - a),
    );
  say(
    `${what}: keys ${keys.join(" ")}`,
    await tasksOf(browser, page, async () => {
      for (const key of keys) await page.keyboard.press(key);
      await page.evaluate("new Promise((done) => setTimeout(done, 300))");
    }),
  );
  say(`${what}: from its end to its top`, await tasksOf(browser, page, () => scroll(page)));
  await page.close();
}

/** Waits until no new rows appear, because a list renders its rows in slices, one per frame. */
async function waitForRows(page: Page, row: string): Promise<void> {
  for (let before = -1, now = 0; before !== now; ) {
    before = now;
    await page.evaluate("new Promise((done) => setTimeout(done, 300))");
    now = await page.locator(row).count();
  }
}

/** Scrolls by a window's height in each frame. */
const scroll = (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((done) => {
    scrollTo(0, document.documentElement.scrollHeight);
    requestAnimationFrame(function up() {
      if (scrollY <= 0) return done();
      scrollBy(0, -innerHeight);
      requestAnimationFrame(up);
    });
  })`);

/** Writes as many audit entries as many administrators cause in a year. */
function fillAudit(data: string): void {
  const db = new Database(join(data, "skep.db"));
  const insert = db.prepare("INSERT INTO audit (id, at, actor, action, subject, data) VALUES (?, ?, ?, ?, ?, ?)");
  db.transaction(() => {
    for (let n = 0; n < ROWS; n++)
      insert.run(`audit_${n}`, new Date().toISOString(), "usr_first", "secret.created", `s${n}`, "{}");
  })();
  db.close();
}

/** Creates a run with that many commands and waits until all have ended. */
async function manySteps(server: TestServer): Promise<string> {
  const steps = Array.from({ length: Number(values.steps) }, (_, at) => ({ id: `s${at}`, run: "true", needs: [] }));
  const pipeline = await server.request("POST", "/v1/pipelines", { body: { id: "many", name: "Many", steps } });
  if (pipeline.status !== 201) throw new Error(JSON.stringify(pipeline.body));
  const body = { pipeline_id: "many", task_description: "Many steps" };
  const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body;
  await (await fetch(`${server.url}/v1/events/stream?run_id=${id}`)).text();
  return id;
}

const folder = mkdtempSync(join(tmpdir(), "skep-bench-pages-"));
const browser = await openBrowser({ asPeopleHave: true });
try {
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  const data = join(folder, "year");
  await fillFolder(data, Number(values.runs));
  fillAudit(data);
  const year = await startServer({ data, env: { RATE_LIMIT: "0", ALLOW_HOST_SHELL: "true" } });
  try {
    console.log(`${values.runs} runs`);
    await measureHeadings(browser, year);
    await use(browser, year.url, { what: "runs", path: "/runs", row: "main tbody tr", more: "Show more" });
    await use(browser, year.url, {
      what: "audit log",
      path: "/system?tab=audit",
      row: "main tbody tr",
      more: "Show more",
    });
    await use(browser, year.url, { what: "activity", path: "/activity", row: "main section li", more: "Earlier" });
    const run = await manySteps(year);
    await use(browser, year.url, {
      what: `${values.steps} steps`,
      path: `/runs/${run}?tab=steps`,
      row: "main li [data-row]",
      keys: ["j", "j", "j", "n"],
    });
  } finally {
    await year.remove();
  }
  const server = await startServer({ env: { ...seedEnvironment(join(folder, "seed")), RATE_LIMIT: "0" } });
  try {
    const ids = await seed(server);
    commitManyFiles(server.data, ids.project, ids.rival, Number(values.files));
    await use(browser, server.url, {
      what: `${values.files} files`,
      path: `/runs/${ids.rival}?tab=changes`,
      row: "main [data-file]",
      more: "Show more of",
      keys: ["n", "n", "v", "p"],
    });
  } finally {
    await server.remove();
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
