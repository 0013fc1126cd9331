/** Lists show a run as it is now, although ended runs are cached. For an unchanged run, they read only its version. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { openStore, type Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { createRunStore } from "./store.ts";
import { createRunViews, type RunViews } from "./views.ts";

let store: Store;
let views: RunViews;
let texts: string[];
beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
  const { sqlite, statement } = store;
  texts = [];
  const noteStatement = <Row>(text: string) => {
    texts.push(text);
    return statement<Row>(text);
  };
  views = createRunViews(createRunStore({ ...store, statement: noteStatement }), sqlite);
  sqlite.exec(`
    INSERT INTO run_definitions VALUES ('d', '{"id":"p","steps":[{"id":"one","agent":"ann"},{"id":"two","agent":"ann"}]}');
    INSERT INTO runs (id, pipeline_id, definition_id, task_description, status, created_at, started_at, finished_at)
      VALUES ('run_1', 'p', 'd', 'Look', 'failed', '2026-01-01', '2026-01-01', '2026-01-02');
    INSERT INTO steps (id, run_id, step_id, position, attempt, max_attempts, visit, status, created_at)
      VALUES ('step_1', 'run_1', 'one', 0, 1, 1, 1, 'succeeded', '2026-01-01'),
             ('step_2', 'run_1', 'two', 1, 1, 1, 1, 'failed', '2026-01-01');`);
  expect(listFirst()).toEqual(fresh());
});
afterEach(() => store.close());

const listFirst = () => views.list({}, { limit: 20, after: null }, LOCAL_ADMIN).items[0]!;
/** The run, presented from its row as it is now. */
const fresh = () => views.present(views.rowFor("run_1", LOCAL_ADMIN));
const change = (sql: string, ...values: (string | number | null)[]) => store.sqlite.prepare(sql).run(...values);
/** Number of statements that the list executes. */
const countStatements = (): number => {
  texts = [];
  listFirst();
  return texts.length;
};

test("a run that has ended is read whole once, and again after each change", () => {
  expect(countStatements()).toBe(1);
  change("UPDATE runs SET merged_into = 'main' WHERE id = 'run_1'");
  expect(countStatements()).toBeGreaterThan(1);
  expect(countStatements()).toBe(1);
});

test("a change of any column of an ended run is in the list at once", () => {
  const OTHER: Record<string, string | number> = {
    status: "cancelled",
    outputs: '{"a":"b"}',
    error: '{"code":"x","message":"y"}',
    budget_usd: 2,
    cost_nano: 3_000_000_000,
    calls_without_price: 2,
    tokens: 4,
    inputs: "{}",
    finished_at: "2026-02-02",
  };
  for (const column of Object.keys(runs)) {
    if (["id", "version", "definition_id", "_", "$inferSelect", "enableRLS"].includes(column)) continue;
    const before = listFirst();
    change(`UPDATE runs SET ${column} = ? WHERE id = 'run_1'`, OTHER[column] ?? `other ${column}`);
    expect(listFirst()).toEqual(fresh());
    if (column in before && column !== "inputs") expect(listFirst()).not.toEqual(before);
  }
});

test("so are a change of its steps, its costs, and a restart that ends in the same way", () => {
  change("UPDATE steps SET status = 'succeeded' WHERE id = 'step_2'");
  expect(listFirst().steps_done).toBe(2);
  change("UPDATE steps SET superseded = 1 WHERE id = 'step_2'");
  expect(listFirst().steps_done).toBe(1);
  const ended = change("UPDATE runs SET status = 'running', finished_at = NULL WHERE id = 'run_1'");
  expect([ended.changes, listFirst().status]).toEqual([1, "running"]);
  change("UPDATE runs SET tokens = 7 WHERE id = 'run_1'");
  change("UPDATE runs SET status = 'failed', finished_at = '2026-01-02' WHERE id = 'run_1'");
  expect(listFirst()).toEqual(fresh());
  expect(listFirst().tokens).toBe(7);
});

test("what a transaction saw that was undone is not kept", () => {
  const rollBack = () =>
    store.write(() => {
      change("UPDATE runs SET tokens = 100 WHERE id = 'run_1'");
      expect(listFirst().tokens).toBe(100);
      throw new Error("undone");
    });
  expect(rollBack).toThrow("undone");
  expect(listFirst().tokens).toBe(0);
  change("UPDATE runs SET tokens = 5 WHERE id = 'run_1'");
  expect(listFirst().tokens).toBe(5);
});

test("nobody sees another's run, kept or not", () => {
  change("UPDATE runs SET created_by = 'usr_a' WHERE id = 'run_1'");
  const of = (userId: string) =>
    views.list({}, { limit: 20, after: null }, { kind: "user", admin: false, projects: OPEN_PROJECTS, userId }).items
      .length;
  expect([of("usr_a"), of("usr_b"), of("usr_a")]).toEqual([1, 0, 1]);
});
