import { expect, test } from "bun:test";
import { packColumns, readColumns } from "./columns.ts";

test("columns come back as they were; the NUL that parts texts is left out of them", () => {
  const packed = packColumns(
    new Map([
      ["plain", ["a", "", "ü", ""]],
      ["odd", ["a\u0000b", "\u0000", "c"]],
      ["one", ["\u0000\u0000"]],
      ["none", []],
    ]),
    { said: 1 },
  );
  const read = readColumns(packed)!;
  expect(["plain", "odd", "one", "none"].map((name) => read.strings(name))).toEqual([
    ["a", "", "ü", ""],
    ["ab", "", "c"],
    [""],
    [],
  ]);
  expect(read.meta).toEqual({ said: 1 });
});
