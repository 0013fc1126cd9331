import { afterAll, expect, test } from "bun:test";
import { createSourceTree } from "../../testing/source-tree.ts";
import { sourceLines } from "./source-lines.ts";

const tree = createSourceTree({ "a.ts": "one\ntwo\nthree\nfour", "wide.ts": "x".repeat(200_000) }, { git: false });
tree.write("large.ts", "x\n".repeat(600_000));
afterAll(() => tree.remove());
const lines = (path: string, from: number, to: number) => sourceLines(tree.root, path, from, to);

test("lines are counted from one, the last included, and end where the file does", () => {
  expect(lines("a.ts", 1, 1)).toBe("one");
  expect(lines("a.ts", 2, 3)).toBe("two\nthree");
  expect(lines("a.ts", 4, 9)).toBe("four");
  expect(lines("a.ts", 5, 9)).toBe("");
});

test("nothing is shown of what lies outside, is missing or too large, and no more of a line than fits an answer", () => {
  expect(lines("../store", 1, 1)).toBe("");
  expect(lines("none.ts", 1, 1)).toBe("");
  expect(lines("large.ts", 1, 1)).toBe("");
  expect(lines("wide.ts", 1, 1)).toHaveLength(64_000);
});
