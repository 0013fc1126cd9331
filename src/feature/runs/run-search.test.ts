/** Searching runs by words: which are found, in what order, and at what cost. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { openStore, type Store } from "../../store/store.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { createRunStore, type RunFilter, type RunStore } from "./store.ts";

let store: Store;
let rows: RunStore;
let made = 0;
beforeAll(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
  rows = createRunStore(store);
});
afterAll(() => store.close());

function add(task: string, created_by: string | null = null, project: string | null = null): string {
  const id = `run_${String(made++).padStart(6, "0")}`;
  store.sqlite
    .prepare(
      `INSERT INTO runs (id, pipeline_id, definition_id, task_description, created_by, project_name, status, created_at)
       VALUES (?, 'hello', '', ?, ?, ?, 'succeeded', '2026-01-01T00:00:00.000Z')`,
    )
    .run(id, task, created_by, project);
  return id;
}
const find = (text: string, filter: RunFilter = {}, after: string | null = null, limit = 50) =>
  rows.page({ text, ...filter }, after, limit).map(({ id }) => id);

test("every word is a part of the task, the pipeline, the project or the id, A–Z in either case", () => {
  const honey = add("Count the HONEY pots, über 100% glass_jars", null, "Beehive shop");
  const other = add('Say "hello" to bee\\s');
  expect(find("honey")).toEqual([honey]);
  expect(find("one count")).toEqual([honey]);
  expect(find("honey hive HELLO")).toEqual([honey]);
  expect(find("Über")).toEqual([]);
  expect(find("über")).toEqual([honey]);
  expect(find("0% glass_jar")).toEqual([honey]);
  expect(find("bee")).toEqual([other, honey]);
  expect(find('"hello"')).toEqual([other]);
  expect(find("bee\\s")).toEqual([other]);
  expect(find(honey)).toEqual([honey]);
  expect(find("pots count the")).toEqual([honey]);
  for (const text of [
    "%",
    "glass-jars",
    "gla*",
    "NOT honey",
    "tnuoc",
    "honeypots",
    '"',
    "'",
    "\0\0\0",
    "hon\0ey",
    "(((",
    "a OR",
  ])
    expect([text, find(text).filter((id) => id === honey)]).toEqual([text, text === "%" ? [honey] : []]);
});

test("words of one and two characters are found as well, alone and beside longer ones", () => {
  const short = add("Go to 北京 at 5");
  expect(find("go 北京")).toEqual([short]);
  expect(find("5 hello")).toEqual([short]);
  expect(find("go xx")).toEqual([]);
});

test("runs that change, pass to another user or are removed are found accordingly", () => {
  const id = add("A wandering text", "usr_a");
  expect(find("wandering", { ownOf: { admin: false, projects: OPEN_PROJECTS, userId: "usr_b" } })).toEqual([]);
  rows.updateRun(id, { created_by: "usr_b", status: "failed" });
  expect(
    find("wandering", { ownOf: { admin: false, projects: OPEN_PROJECTS, userId: "usr_b" }, statuses: ["failed"] }),
  ).toEqual([id]);
  expect(find("wandering", { ownOf: { admin: false, projects: OPEN_PROJECTS, userId: "usr_a" } })).toEqual([]);
  rows.updateRun(id, { task_description: "A resting text" });
  expect([find("wandering"), find("resting")]).toEqual([[], [id]]);
  store.sqlite.prepare("DELETE FROM runs WHERE id = ?").run(id);
  expect(find("resting")).toEqual([]);
  const left = "SELECT (SELECT count(*) FROM run_texts) - (SELECT count(*) FROM runs)";
  expect(store.sqlite.prepare(left).pluck().get()).toBe(0);
});

test("runs are found in a copy of the database", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-copy-"));
  const copy = join(folder, "copy.db");
  const id = add("A bee that was copied");
  store.sqlite.prepare("DELETE FROM runs WHERE id = ?").run(add("A bee that left a gap before"));
  const last = add("Another that was copied");
  store.sqlite.prepare("VACUUM INTO ?").run(copy);
  const opened = openStore({ path: copy, clock: systemClock });
  const found = createRunStore(opened).page({ text: "was copied" }, null, 10);
  expect(found.map((run) => run.id)).toEqual([last, id]);
  opened.close();
  rmSync(folder, { recursive: true });
});

test("a page reads what it shows and continues where the last one ended; an old run is found among thousands", () => {
  const old = add("The first of a swarm", "usr_own");
  store.write(() => {
    for (let n = 0; n < 5_000; n++) add("A bee of the many", "usr_other");
  });
  expect(find("swarm")).toEqual([old]);
  expect(find("bee", { ownOf: { admin: false, projects: OPEN_PROJECTS, userId: "usr_own" } })).toEqual([]);
  const pages: string[] = [];
  for (let after: string | null = null; ; ) {
    const page: string[] = find("many bee", {}, after, 1_999);
    pages.push(...page);
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  expect(pages).toHaveLength(5_000);
  expect(pages).toEqual(pages.toSorted().reverse());
  const asked: string[] = [];
  const fresh = createRunStore({
    ...store,
    statement(text) {
      asked.push(text);
      return store.statement(text);
    },
  });
  for (const filter of [
    {},
    { ownOf: { admin: false, projects: OPEN_PROJECTS, userId: "usr_own" } },
    { statuses: ["failed" as const] },
    { agent_id: "ann" },
  ])
    fresh.page({ text: "many", ...filter }, "run_000009", 50);
  for (const text of asked) {
    const values = Array(text.split("?").length - 1).fill(null);
    const plan = store.sqlite.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    expect(plan.map(({ detail }) => detail).join("\n")).not.toMatch(/TEMP B-TREE|SCAN (runs|run_texts)/);
  }
  expect(asked).toHaveLength(4);
});
