import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../core/clock.ts";
import { REMOVED_AT_ONCE, removeRows } from "./remove-rows.ts";
import { openStore, type Store } from "./store.ts";

const MANY = 2 * REMOVED_AT_ONCE + 7;
let store: Store;
beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
  store.sqlite.exec("CREATE TABLE old (id INTEGER PRIMARY KEY, day TEXT, name TEXT)");
  const insert = store.sqlite.prepare("INSERT INTO old (day, name) VALUES (?, ?)");
  for (let n = 0; n < MANY; n++) insert.run("2026-01-01", String(n));
  insert.run("2026-03-01", "new");
});
afterEach(() => store.close());
const left = (): number => store.sqlite.prepare("SELECT count(*) FROM old").pluck().get() as number;
const old = { from: "old", where: "day < ?" };

test("all rows of the condition go and no other, some at a time with turns for other work between", async () => {
  const seen: number[] = [];
  let done = false;
  const watch = () => {
    seen.push(left());
    if (!done) setImmediate(watch);
  };
  const removing = removeRows(store, old, ["2026-02-01"]);
  expect(left()).toBe(MANY + 1 - REMOVED_AT_ONCE);
  setImmediate(watch);
  await removing;
  done = true;
  expect(left()).toBe(1);
  expect(seen).toContain(MANY + 1 - 2 * REMOVED_AT_ONCE);
});

test("rows may be told apart by several columns", async () => {
  await removeRows(store, { ...old, key: "day, name" }, ["2026-02-01"]);
  expect(left()).toBe(1);
});

test("stops when it is asked to, and continues at the next call", async () => {
  const stopping = new AbortController();
  const removing = removeRows(store, old, ["2026-02-01"], stopping.signal);
  stopping.abort();
  await removing;
  expect(left()).toBe(MANY + 1 - REMOVED_AT_ONCE);
  await removeRows(store, old, ["2026-02-01"]);
  expect(left()).toBe(1);
});
