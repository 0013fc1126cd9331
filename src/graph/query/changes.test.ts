/**
 * Changes of a working tree: how git's states are reported, that the repository is never written to, and the limits.
 */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createSourceTree, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import { createGraphSession, type GraphSession } from "../serve/session.ts";
import type { Changes } from "./changes.ts";

const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

async function indexTree(files: Record<string, string>): Promise<{ tree: SourceTree; session: GraphSession }> {
  const tree = createSourceTree(files);
  trees.push(tree);
  const session = createGraphSession({ root: tree.root, store: tree.store });
  await session.index({ force: false });
  return { tree, session };
}

const summarize = ({ files, symbols }: Changes) => ({
  files: files.map(({ path, status, from }) => `${status} ${from === undefined ? "" : `${from} → `}${path}`),
  symbols: symbols.map(({ symbol, change }) => `${change} ${symbol.qualified_name}`).sort(),
});

test("edited, staged, renamed, deleted and untracked files become symbols", async () => {
  const { tree, session } = await indexTree({ ...SHOP, "src/old.ts": "export function old() {}\n" });
  tree.write("src/tax.ts", SHOP["src/tax.ts"].replace("* 1.2", "* 1.3"));
  tree.write("src/cart.ts", SHOP["src/cart.ts"].replace("  add(", "  clear() {}\n\n  add("));
  tree.git("add", "src/cart.ts");
  tree.git("mv", "src/main.ts", "src/start.ts");
  tree.git("rm", "-q", "src/old.ts");
  tree.write("src/new.ts", "export function fresh() {}\n");
  expect(summarize(await session.changes())).toEqual({
    files: [
      "modified src/cart.ts",
      "untracked src/new.ts",
      "deleted src/old.ts",
      "renamed src/main.ts → src/start.ts",
      "modified src/tax.ts",
    ],
    symbols: ["added Cart.clear", "added fresh", "deleted old", "modified Cart", "modified withTax"],
  });
});

test("what was deleted and added since the commit is reported as such also when the graph was made afterwards", async () => {
  const { tree, session } = await indexTree({ ...SHOP, "src/old.ts": "export function old() {}\n" });
  tree.git("rm", "-q", "src/old.ts");
  tree.write("src/tax.ts", "export function fresh() {}\n");
  const before = summarize(await session.changes());
  expect(before.symbols).toEqual(["added fresh", "deleted old", "deleted round", "deleted withTax"]);
  await session.index({ force: false });
  expect(summarize(await session.changes())).toEqual(before);
});

test("each state of the tree and of its index is seen at once, and the repository is not written to", async () => {
  const { tree, session } = await indexTree(SHOP);
  const index = () => readFileSync(join(tree.root, ".git/index")).toString("hex");
  const untouched = index();
  expect(summarize(await session.changes()).files).toEqual([]);
  // The same size in the same second: only the content differs.
  tree.write("src/tax.ts", SHOP["src/tax.ts"].replace("* 1.2", "* 1.4"));
  expect(summarize(await session.changes()).symbols).toEqual(["modified withTax"]);
  expect(index()).toBe(untouched);
  tree.git("commit", "-qam", "second");
  expect(summarize(await session.changes()).files).toEqual([]);
  expect(summarize(await session.changes("HEAD~1")).symbols).toEqual(["modified withTax"]);
  tree.git("rm", "-q", "--cached", "src/main.ts");
  expect(summarize(await session.changes()).files).toContain("untracked src/main.ts");
});

test("before the first commit and without git there is an answer too", async () => {
  const { tree, session } = await indexTree(SHOP);
  renameSync(join(tree.root, ".git"), join(tree.root, "..", "git-aside"));
  expect(await session.changes().catch((error) => error.code)).toBe("no_repository");
  tree.git("init", "-q");
  tree.git("add", "src/tax.ts");
  expect((await session.changes()).files).toHaveLength(3);
  expect(await session.changes("HEAD").catch((error) => error.code)).toBe("invalid");
});

test("more files than are read are counted, and their symbols are not taken for gone", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1_100 }, (_, n) => [`src/f${n}.ts`, `export const a${n} = 1;\n`]),
  );
  const { tree, session } = await indexTree(files);
  for (const path of Object.keys(files)) tree.write(path, `${files[path]}export const b = 2;\n`);
  const changes = await session.changes();
  expect(changes).toMatchObject({ truncated: true, totals: { files: 1_100, symbols: 500 } });
  expect([changes.files.length, changes.symbols.length]).toEqual([1_000, 500]);
  expect(new Set(changes.symbols.map(({ change }) => change))).toEqual(new Set(["added"]));
}, 300_000);
