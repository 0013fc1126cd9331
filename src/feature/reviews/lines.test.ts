import { expect, test } from "bun:test";
import { lineIn } from "./lines.ts";

const HUNKS = [
  { header: "@@ -1,3 +1,4 @@", lines: [" one", "-two", "+TWO", "+more", " three", "\\ No newline at end of file"] },
  { header: "@@ -10 +11 @@ void f()", lines: ["-ten", "+eleven"] },
];

test.each([
  ["new", 1, "one"],
  ["new", 2, "TWO"],
  ["new", 3, "more"],
  ["new", 4, "three"],
  ["new", 11, "eleven"],
  ["old", 2, "two"],
  ["old", 3, "three"],
  ["old", 10, "ten"],
] as const)("line %s %i is found with its text", (side, line, quote) => {
  expect(lineIn(HUNKS, line, side)).toEqual({ quote });
});

test.each([
  ["new", 5],
  ["old", 4],
  ["old", 11],
] as const)("line %s %i is in no hunk", (side, line) => {
  expect(lineIn(HUNKS, line, side)).toBeUndefined();
});
