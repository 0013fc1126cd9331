import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type as t } from "@sinclair/typebox";
import Database from "better-sqlite3";
import { systemClock } from "../core/clock.ts";
import { defineEvent, type SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { createEventLog } from "./event-log.ts";
import { lockDataFolder } from "./lock.ts";
import { compareMigrations, migrate } from "./migrate.ts";
import { STEPS_BEFORE_RELEASE } from "./migrations/before-release.ts";
import { MIGRATIONS } from "./migrations/list.ts";
import { openStore, type Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = () => join(folder, `${files++}.db`);
const said = defineEvent("said", t.Object({ title: t.String() }));
const output = defineEvent("output", t.Object({ text: t.String(), call_id: t.Optional(t.String()) }), {
  delivery: "lossy",
});
const activity = (title: string) => ({ data: { title } });
const open = (): Store => openStore({ path: ":memory:", clock: systemClock, checkEvents: true });

describe("store", () => {
  test("events are published only after the commit, and a failed transaction publishes none and leaves no gap", () => {
    const store = open();
    const published: SkepEvent[] = [];
    store.onCommit((events) => {
      expect(store.sqlite.inTransaction).toBe(false);
      published.push(...events);
    });
    store.write((tx) => tx.emit(said, activity("one")));
    expect(() =>
      store.write((tx) => {
        tx.emit(said, activity("lost"));
        throw new Error("no");
      }),
    ).toThrow("no");
    store.write((tx) => {
      tx.emit(said, activity("two"));
      store.write((inner) => inner.emit(said, activity("three")));
      expect(published).toHaveLength(1);
    });
    expect(published.map((event) => [event.id, event.data["title"]])).toEqual([
      [1, "one"],
      [2, "two"],
      [3, "three"],
    ]);
    store.close();
  });

  test("effects run after the commit and its events, in order, and none of a transaction that failed", () => {
    const store = open();
    const seen: unknown[] = [];
    store.onCommit((events) => seen.push(...events.map(({ data }) => data["title"])));
    store.write(({ emit, after }) => {
      after(() => seen.push(store.sqlite.inTransaction));
      after(() => store.write((tx) => tx.emit(said, activity("by an effect"))));
      emit(said, activity("event"));
      expect(seen).toEqual([]);
    });
    expect(seen).toEqual(["event", false, "by an effect"]);
    expect(() =>
      store.write(({ after }) => {
        after(() => seen.push("never"));
        throw new Error("no");
      }),
    ).toThrow("no");
    store.write(() => {});
    expect(seen).toHaveLength(3);
    store.close();
  });

  test("a nested write that fails undoes its own rows, events and effects, and nothing else", () => {
    const store = open();
    const log = createEventLog(store);
    const seen: string[] = [];
    const fail = (title: string): void => {
      store.write(({ emit, after }) => {
        emit(said, activity(title));
        after(() => seen.push(title));
        store.write((inner) => inner.emit(said, activity(`${title} within`)));
        throw new Error(title);
      });
    };
    store.write(({ emit, after }) => {
      emit(said, activity("before"));
      after(() => seen.push("before"));
      expect(() => fail("lost")).toThrow("lost");
      store.write((inner) => inner.after(() => seen.push("inner")));
      emit(said, activity("after"));
    });
    expect(seen).toEqual(["before", "inner"]);
    expect(log.read(0, 10).map(({ data }) => data["title"])).toEqual(["before", "after"]);
    store.close();
  });

  test("what an effect throws is reported, undoes nothing, and does not stop the next", async () => {
    const errors: string[] = [];
    const onEffectError = (error: unknown) => void errors.push((error as Error).message);
    const store = openStore({ path: ":memory:", clock: systemClock, onEffectError });
    const seen: string[] = [];
    const answer = store.write(({ emit, after }) => {
      emit(said, activity("kept"));
      after(() => {
        throw new Error("at once");
      });
      after(() => Promise.reject(new Error("later")));
      after(() => seen.push("next"));
      return "answer";
    });
    await Promise.resolve();
    expect({ answer, seen, errors }).toEqual({ answer: "answer", seen: ["next"], errors: ["at once", "later"] });
    expect(createEventLog(store).lastId()).toBe(1);
    store.close();
  });

  test("data that does not match its schema is refused where events are checked, unknown members too", () => {
    const store = open();
    const wrong = [{ title: 1 }, {}, { title: "a", more: true }] as unknown as { title: string }[];
    for (const data of wrong) expect(() => store.write(({ emit }) => emit(said, { data }))).toThrow("event said");
    expect(createEventLog(store).lastId()).toBe(0);
    store.close();
  });

  test("queued chunks come before the next event, joined, in order", () => {
    const store = open();
    const log = createEventLog(store);
    for (const text of ["a", "b", "c"]) store.emitSoon(output, { session_id: "s", data: { text } });
    store.emitSoon(output, { session_id: "s", data: { text: "d", call_id: "1" } });
    store.write((tx) => tx.emit(said, activity("after")));
    expect(log.read(0, 10).map((event) => event.data)).toEqual([
      { text: "abc" },
      { text: "d", call_id: "1" },
      { title: "after" },
    ]);
    store.close();
  });

  test("chunks that are too large for one event make several; of a call's, what comes too fast is counted", () => {
    const store = open();
    const log = createEventLog(store);
    const texts = () => log.read(0, 100).map(({ data }) => (data as { text: string }).text);
    const said = `a${"\u{1f41d}".repeat(LIMITS.eventDataBytes)}`;
    store.emitSoon(output, { session_id: "s", data: { text: said } });
    store.flush();
    expect(texts().join("")).toBe(said);
    const before = texts().length;
    for (let at = 0; at < 100; at++)
      store.emitSoon(output, { session_id: "s", data: { text: "\u0000".repeat(10_000), call_id: "1" } });
    store.flush();
    const [shown = "", ...more] = texts().slice(before);
    const [kept = "", left] = shown.split("\n… ");
    expect([more, left]).toEqual([[], `${1_000_000 - kept.length} characters left out …\n`]);
    expect(log.read(0, 100).at(-1)!.data).toMatchObject({ call_id: "1" });
    store.close();
  });

  test("a note of what is under way does not wait for the disk; what follows from it does, and every other change", () => {
    const store = open();
    const FULL = 2;
    const level = () => store.sqlite.pragma("synchronous", { simple: true });
    const seen: unknown[] = [];
    store.onCommit(() => seen.push(level()));
    store.note(({ emit, after }) => {
      seen.push(level());
      emit(said, activity("noted"));
      after(() => store.write(() => seen.push(level())));
    });
    expect(() =>
      store.note(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
    store.write(() => store.note(() => seen.push(level())));
    expect([...seen, level()]).toEqual([1, FULL, FULL, FULL, FULL]);
    store.close();
  });

  test("chunks queued for a transaction that failed are not lost", () => {
    const store = open();
    const log = createEventLog(store);
    store.emitSoon(output, { session_id: "s", data: { text: "kept" } });
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

  test("a database that a build from before the first release brought up to the schema continues, another is refused", () => {
    const db = new Database(fresh());
    migrate(db, null);
    const tables = db.prepare("SELECT name, sql FROM sqlite_schema").all();
    db.exec("DELETE FROM migrations WHERE name = '0001-schema'");
    const step = db.prepare("INSERT INTO migrations (name, applied_at) VALUES (?, '2026-01-01T00:00:00.000Z')");
    for (const name of STEPS_BEFORE_RELEASE.slice(0, -1)) step.run(name);
    expect(() => migrate(db, null)).toThrow("from before the first release");
    expect(compareMigrations(db).refusal?.code).toBe("database_too_old");
    step.run(STEPS_BEFORE_RELEASE.at(-1));
    expect(compareMigrations(db)).toEqual({ missing: [], refusal: null });
    // The later migration's number lies among those of the steps.
    const later = [...MIGRATIONS, { name: "0003-later", sql: "CREATE TABLE later (x);" }];
    expect(migrate(db, null, later)).toEqual(["0003-later"]);
    expect(() => migrate(db, null)).toThrow("newer skep (0003-later)");
    db.exec("DROP TABLE later");
    expect(db.prepare("SELECT name, sql FROM sqlite_schema").all()).toEqual(tables);
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

  test("a second holder of the data folder is refused until the first lets go", async () => {
    const unlock = lockDataFolder(folder);
    expect(() => lockDataFolder(folder, 0)).toThrow("Another skep");
    unlock();
    lockDataFolder(folder)();
    // A process that a killed server was just starting holds the folder a moment longer.
    const hold = `const { lockDataFolder } = await import("${import.meta.dir}/lock.ts");
      lockDataFolder("${folder}"); console.log("held"); await Bun.sleep(300);`;
    const holder = Bun.spawn([process.execPath, "-e", hold], { stdout: "pipe" });
    await holder.stdout.getReader().read();
    lockDataFolder(folder, 60_000)();
    expect(await holder.exited).toBe(0);
  });
});
