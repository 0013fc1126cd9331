import { expect, test } from "bun:test";
import { type ChangedFile, filterFiles, rowsOf } from "../../web/page/changes/tree.ts";

const file = (path: string): ChangedFile => ({ path, status: "modified", insertions: 1, deletions: 0 });
const FILES = ["README.md", "src/deep/only/one.ts", "src/deep/only/two.ts", "src/main.ts"].map(file);
const drawTree = (closed: string[] = []) =>
  rowsOf(FILES, new Set(closed)).map((row) => `${"  ".repeat(row.depth)}${row.name}`);

test("files are below their folders, in the order of the list; folders with one folder share its row", () => {
  expect(drawTree()).toEqual(["README.md", "src", "  deep/only", "    one.ts", "    two.ts", "  main.ts"]);
});

test("a folded folder hides what is in it and says how many files that is", () => {
  expect(drawTree(["src"])).toEqual(["README.md", "src"]);
  expect(rowsOf(FILES, new Set(["src"]))[1]).toMatchObject({ open: false, files: 3 });
  expect(drawTree(["src/deep/only"])).toEqual(["README.md", "src", "  deep/only", "  main.ts"]);
});

test("a filter keeps the files whose path has every word", () => {
  const findPaths = (text: string) => filterFiles(FILES, text).map(({ path }) => path);
  expect(findPaths("DEEP two")).toEqual(["src/deep/only/two.ts"]);
  expect(findPaths(" ")).toHaveLength(4);
  expect(findPaths("nothing")).toEqual([]);
});
