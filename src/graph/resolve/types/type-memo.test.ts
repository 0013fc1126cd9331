import { expect, test } from "bun:test";
import { Finding, TypeMemo, TypesByFile } from "./type-memo.ts";
import { createBuiltin, unionOf, type ValueType } from "./value-type.ts";

/** A memo in which each row has a type of its own, combined with the types of the rows that it asks for. */
function openMemo(asks: (row: number) => readonly number[], rows: number) {
  let found = 0;
  const memo: TypeMemo<number> = new TypeMemo(rows, new Finding(), (row): ValueType | undefined => {
    found++;
    return unionOf([createBuiltin(`t${row}`), ...asks(row).map((other) => memo.of(other))]);
  });
  const namesOf = (row: number): string[] => {
    const type = memo.of(row);
    const parts = type?.kind === "union" ? type.of : type ? [type] : [];
    return parts.map((part) => (part.kind === "builtin" ? part.name : "?")).sort();
  };
  return { memo, namesOf, count: () => found };
}

test("a circle gives the same types wherever it is entered", () => {
  const ring = (row: number) => [(row + 1) % 4];
  const all = ["t0", "t1", "t2", "t3"];
  for (let entered = 0; entered < 4; entered++) {
    const { namesOf } = openMemo(ring, 4);
    namesOf(entered);
    for (const row of [0, 1, 2, 3]) expect([entered, row, namesOf(row)]).toEqual([entered, row, all]);
  }
});

test("who uses what a circle cut short is found again too", () => {
  // Row 0 asks for 1 and 2. Both are in circles through 0, and 2 asks for 1 after that was found.
  const asks = [[1, 2], [0], [1]];
  for (const entered of [0, 1, 2]) {
    const { namesOf } = openMemo((row) => asks[row]!, 3);
    namesOf(entered);
    for (const row of [2, 1, 0]) expect([entered, row, namesOf(row)]).toEqual([entered, row, ["t0", "t1", "t2"]]);
  }
});

test("what is no part of a circle is found once, though circles ask for it", () => {
  const { memo, namesOf, count } = openMemo((row) => (row === 2 ? [] : [1 - row, 2]), 3);
  expect(namesOf(0)).toEqual(["t0", "t1", "t2"]);
  const before = count();
  memo.of(2);
  expect(count()).toBe(before);
});

test("however entangled rows are, each is found a few times at most", () => {
  const rows = 200;
  const everybody = Array.from({ length: rows }, (_, row) => row);
  const { memo, count } = openMemo(() => everybody, rows);
  for (let round = 0; round < 5; round++) for (const row of everybody) memo.of(row);
  expect(count()).toBeLessThanOrEqual(4 * rows);
});

test("a file whose types are forgotten gives the same types again, and the other files keep theirs", () => {
  const found: string[] = [];
  const types = new TypesByFile<number>(
    new Finding(),
    () => 2,
    (file, row) => {
      found.push(`${file}:${row}`);
      return createBuiltin(`t${file}${row}`);
    },
  );
  const first = types.of(0, 1);
  types.of(1, 0);
  types.forget(0);
  expect([types.wasAsked(0, 1), types.wasAsked(1, 0)]).toEqual([false, true]);
  expect(types.of(0, 1)).toEqual(first);
  types.of(1, 0);
  expect(found).toEqual(["0:1", "1:0", "0:1"]);
});
