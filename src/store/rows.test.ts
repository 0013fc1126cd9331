import { afterAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { systemClock } from "../core/clock.ts";
import { OPEN_PROJECTS } from "../testing/open-projects.ts";
import { openStore } from "./store.ts";
import { toolOverrides } from "./tables/agents.ts";
import { cookieSets } from "./tables/cookies.ts";
import { buildReadCondition, WHOSE } from "./whose.ts";

const store = openStore({ path: ":memory:", clock: systemClock });
store.sqlite.pragma("foreign_keys = OFF");
afterAll(() => store.close());

const set = (id: string, owner_id: string | null) => ({
  id,
  owner_id,
  name: `Set ${id}`,
  domains: ["example.com", "?"],
  cookie_count: 2,
  expires_at: null,
  sealed: "…",
  created_at: "2026-01-01T00:00:00.000Z",
});
const sets = store.rows(cookieSets);
const built = drizzle({ client: store.sqlite });

test("a row is read as it was inserted, with JSON, booleans and nulls, and as the query builder reads it", () => {
  const rows = [set("ck_1", "usr_a"), set("ck_2", null), set("ck_3", "usr_b")];
  for (const row of rows) sets.insert(row);
  expect(sets.find({ id: "ck_1" })).toEqual(rows[0]);
  expect(sets.list([], { order: "id DESC" })).toEqual(rows.toReversed());
  expect(sets.list([])).toEqual(built.select().from(cookieSets).all());
  built.insert(cookieSets).values(set("ck_4", "usr_b")).run();
  expect(sets.find({ id: "ck_4" })).toEqual(set("ck_4", "usr_b"));
  expect(built.select().from(cookieSets).where(eq(cookieSets.id, "ck_4")).get()).toEqual(set("ck_4", "usr_b"));
});

test("an added row is answered as it is read: what was left out is empty, extra members are not kept", () => {
  const { expires_at: _, ...given } = set("ck_5", null);
  const added = sets.add({ ...given, ...{ more: 1 } });
  expect(added).toEqual({ ...given, expires_at: null });
  expect(sets.find({ id: "ck_5" })).toEqual(added);
  sets.remove({ id: "ck_5" });
});

test("values and conditions must all hold; null means an empty column, undefined any value", () => {
  const ids = (...where: Parameters<typeof sets.find>) => sets.list(where, { order: "id" }).map(({ id }) => id);
  expect(ids({ owner_id: null })).toEqual(["ck_2"]);
  expect(ids({ owner_id: undefined })).toEqual(["ck_1", "ck_2", "ck_3", "ck_4"]);
  expect(ids({ domains: ["example.com", "?"], owner_id: "usr_b" }, ["cookie_sets.id < ?", "ck_4"])).toEqual(["ck_3"]);
  expect(
    ids(buildReadCondition({ admin: false, projects: OPEN_PROJECTS, userId: "usr_a" }, WHOSE.cookie_sets), undefined),
  ).toEqual(["ck_1"]);
  expect(sets.list([{ owner_id: "usr_b" }], { order: "id DESC", limit: 1 })).toEqual([set("ck_4", "usr_b")]);
  expect(sets.count({ owner_id: "usr_b" })).toBe(2);
  expect(sets.find({ id: "ck_none" })).toBeUndefined();
});

test("a change leaves alone what is undefined, and says how many rows it changed", () => {
  expect(sets.update({ name: "Renamed", owner_id: undefined }, { id: "ck_1" })).toBe(1);
  expect(sets.find({ id: "ck_1" })).toMatchObject({ name: "Renamed", owner_id: "usr_a" });
  expect(sets.update({ owner_id: null }, { owner_id: "usr_a" })).toBe(1);
  expect(sets.update({}, { id: "ck_1" })).toBe(0);
  expect(sets.remove({ owner_id: null })).toBe(2);
  expect(sets.count()).toBe(2);
});

test("a condition that is missing by mistake changes and removes nothing", () => {
  expect(() => sets.remove()).toThrow("no condition");
  expect(() => sets.remove({ id: undefined })).toThrow("no condition");
  expect(() => sets.update({ name: "x" }, undefined)).toThrow("no condition");
  expect(sets.count()).toBe(2);
});

test("a row is put in the place of the one with the same key, or inserted only when it is new", () => {
  const overrides = store.rows(toolOverrides);
  const row = (enabled: boolean) => ({
    agent_id: "ann",
    tool: "bash",
    enabled,
    updated_at: "2026-01-01",
    updated_by: "usr_a",
  });
  overrides.put(row(true), ["agent_id", "tool"]);
  overrides.put(row(false), ["agent_id", "tool"]);
  expect(overrides.list([])).toEqual([row(false)]);
  expect(overrides.insertIfNew(row(true))).toBe(false);
  expect(overrides.insertIfNew({ ...row(true), tool: "read" })).toBe(true);
  expect(overrides.count({ enabled: false })).toBe(1);
});

test("members that are no column are not stored, and never make a condition wider", () => {
  const more = { ...set("ck_5", "usr_c"), constructor: "x", is_admin: true };
  sets.insert(more);
  expect(sets.find({ id: "ck_5" })).toEqual(set("ck_5", "usr_c"));
  const foreign: Parameters<typeof sets.find>[0] = JSON.parse('{ "id": "ck_5", "is_admin": false }');
  expect(() => sets.remove(foreign)).toThrow("no column is_admin");
  expect(sets.remove({ id: "ck_5" })).toBe(1);
});
