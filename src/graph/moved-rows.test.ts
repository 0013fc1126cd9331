import { expect, test } from "bun:test";
import { MovedRows } from "./moved-rows.ts";

const HALVES = [
  { end: 3, by: 0 },
  { end: 5, by: undefined },
  { end: 5, by: 9 },
  { end: 8, by: 2 },
];

test("rows are where their stretch moved, and nowhere when it is gone", () => {
  const moved = MovedRows.of(HALVES);
  const expected = [0, 1, 2, -1, -1, 7, 8, 9];
  expect([...moved.list()]).toEqual(expected);
  expect(Array.from({ length: 10 }, (_, row) => moved.at(row))).toEqual([...expected, -1, -1]);
  expect([moved.at(-1), moved.length, MovedRows.of([]).at(0)]).toEqual([-1, 8, -1]);
});

test("after any two edits rows are where the second moved what the first had moved", () => {
  const shapes = [
    HALVES,
    [{ end: 12, by: 0 }],
    [
      { end: 2, by: undefined },
      { end: 12, by: -2 },
    ],
    [
      { end: 6, by: 4 },
      { end: 7, by: undefined },
      { end: 9, by: 3 },
    ],
    [],
  ].map((stretches) => MovedRows.of(stretches));
  for (const first of shapes)
    for (const second of shapes) {
      const both = first.moveAgain(second);
      expect([...both.list()]).toEqual(Array.from(first.list(), (row) => (row < 0 ? -1 : second.at(row))));
      expect(both.length).toBe(first.length);
    }
});
