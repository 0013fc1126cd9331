import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "../core/clock.ts";
import type { SkepEvent } from "../core/events.ts";
import { createEventLog } from "./event-log.ts";
import { lockDataFolder } from "./lock.ts";
import { migrate } from "./migrate.ts";
import { openStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = () => join(folder, `${files++}.db`);
const activity = (title: string) => ({ kind: "activity" as const, data: { title } });

describe("store", () => {
  test("events are told only after the commit, and a failed transaction tells none and leaves no gap", () => {
    const store = openStore({ path: ":memory:", clock: systemClock });
    const told: SkepEvent[] = [];
    store.onCommit((events) => {
      expect(store.sqlite.inTransaction).toBe(false);
      told.push(...events);
    });
    store.write((tx) => tx.emit(activity("one")));
    expect(() =>
      store.write((tx) => {
        tx.emit(activity("lost"));
        throw new Error("no");
      }),
    ).toThrow("no");
    store.write((tx) => {
      tx.emit(activity("two"));
      store.write((inner) => inner.emit(activity("three")));
      expect(told).toHaveLength(1);
    });
    expect(told.map((event) => [event.id, event.data["title"]])).toEqual([
      [1, "one"],
      [2, "two"],
      [3, "three"],
    ]);
    store.close();
  });

  test("queued chunks come before the next event, joined, in order", () => {
    const store = openStore({ path: ":memory:", clock: systemClock });
    const log = createEventLog(store, systemClock);
    for (const text of ["a", "b", "c"]) store.emitSoon({ kind: "agent_output", session_id: "s", data: { text } });
    store.emitSoon({ kind: "agent_output", session_id: "s", data: { text: "d", call_id: "1" } });
    store.write((tx) => tx.emit(activity("after")));
    expect(log.read(0, 10).map((event) => event.data)).toEqual([
      { text: "abc" },
      { text: "d", call_id: "1" },
      { title: "after" },
    ]);
    store.close();
  });

  test("chunks queued for a transaction that failed are not lost", () => {
    const store = openStore({ path: ":memory:", clock: systemClock });
    const log = createEventLog(store, systemClock);
    store.emitSoon({ kind: "agent_output", session_id: "s", data: { text: "kept" } });
    expect(() =>
      store.write(() => {
        throw new Error("no");
      }),
    ).toThrow();
    store.flush();
    expect(log.read(0, 10).map((event) => event.data)).toEqual([{ text: "kept" }]);
    store.close();
  });

  test("an existing database is copied before it is migrated, and a newer one is refused", () => {
    const db = new Database(fresh());
    const copies = join(folder, "copies");
    const first = [{ name: "1", sql: "CREATE TABLE a (x); INSERT INTO a VALUES (1);" }];
    expect(migrate(db, copies, first)).toEqual(["1"]);
    expect(migrate(db, copies, [...first, { name: "2", sql: "DROP TABLE a;" }])).toEqual(["2"]);
    const copy = new Database(join(copies, readdirSync(copies)[0]!));
    expect(copy.prepare("SELECT x FROM a").pluck().get()).toBe(1);
    copy.close();
    expect(() => migrate(db, copies, first)).toThrow("newer");
    db.close();
  });

  test("a migration that fails changes nothing", () => {
    const db = new Database(fresh());
    expect(() =>
      migrate(db, null, [
        { name: "1", sql: "CREATE TABLE a (x);" },
        { name: "2", sql: "nonsense" },
      ]),
    ).toThrow();
    expect(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'a'").pluck().get()).toBe(0);
    db.close();
  });

  test("a second holder of the data folder is refused until the first lets go", () => {
    const unlock = lockDataFolder(folder);
    expect(() => lockDataFolder(folder)).toThrow("Another skep");
    unlock();
    lockDataFolder(folder)();
  });
});
