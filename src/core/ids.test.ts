import { expect, test } from "bun:test";
import { TypeID } from "typeid-js";
import { ID_PREFIXES, type IdKind, isId, newId } from "./ids.ts";

test("an id is a TypeID of a UUIDv7 made now, and a later one sorts after it", () => {
  const before = Date.now();
  const made = Array.from({ length: 5_000 }, () => newId("run"));
  expect(made).toEqual(made.toSorted());
  expect(new Set(made).size).toBe(made.length);
  for (const id of [made[0]!, made.at(-1)!]) {
    const parsed = TypeID.fromString(id);
    const uuid = parsed.toUUID();
    expect([parsed.getType(), uuid[14], "89ab".includes(uuid[19]!)]).toEqual(["run", "7", true]);
    const time = Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  }
});

test("ids are recognised by kind; other kinds and shapes are refused", () => {
  for (const kind of Object.keys(ID_PREFIXES) as IdKind[]) expect(isId(kind, newId(kind))).toBe(true);
  const id = newId("run");
  for (const text of [
    "",
    "run",
    "run_",
    id.toUpperCase(),
    `${id}0`,
    id.slice(0, -1),
    `run_8${id.slice(5)}`,
    newId("step"),
  ])
    expect(isId("run", text)).toBe(false);
});
