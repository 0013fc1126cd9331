/** A look by comparing finds the same as a walk of the whole folder. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { HOUR_MS } from "../../core/clock.ts";
import { createSourceTree, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import { lookAtFiles } from "./look.ts";
import { createLooker } from "./quick-look.ts";

const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

/** An hour from now, because files that changed in the last seconds are always looked at again. */
const later = () => Date.now() + HOUR_MS;

const START = { ...SHOP, "package.json": "{}", "app.yaml": "a: 1\n", "ignored/a.ts": "", ".gitignore": "ignored/\n" };

type Change = [what: string, change: (tree: SourceTree) => unknown];

const CHANGES: readonly Change[] = [
  ["nothing", () => undefined],
  ["a file is longer", (tree) => tree.write("src/tax.ts", `${SHOP["src/tax.ts"]}\n// longer`)],
  ["another file takes its place", (tree) => replace(tree, "src/tax.ts", "export const other = 1;\n")],
  ["a file comes", (tree) => tree.write("src/new.ts", "export const x = 1;\n")],
  ["a file that rules leave out comes", (tree) => tree.write("ignored/b.ts", "")],
  ["a file goes", (tree) => rmSync(join(tree.root, "src/new.ts"))],
  ["a folder comes, and has nothing in it", (tree) => mkdirSync(join(tree.root, "empty"))],
  ["it gets a file", (tree) => tree.write("empty/one.ts", "")],
  ["rules leave it out", (tree) => tree.write(".gitignore", "ignored/\nempty/\n")],
  ["rules of a folder leave a file out", (tree) => tree.write("src/.gitignore", "tax.ts\n")],
  ["these rules go", (tree) => rmSync(join(tree.root, "src/.gitignore"))],
  ["git knows a file that rules leave out", (tree) => tree.git("add", "-f", "ignored/a.ts")],
  ["the repository's own rules leave a file out", (tree) => tree.write(".git/info/exclude", "*.yaml\n")],
  ["a configuration file is another", (tree) => tree.write("package.json", '{ "name": "shop" }')],
  ["a source file is too large", (tree) => tree.write("src/tax.ts", "x".repeat(1024 * 1024 + 1))],
  ["it is not any more", (tree) => tree.write("src/tax.ts", "export const small = 1;\n")],
  ["a file is a link", (tree) => link(tree, "src/tax.ts", "../app.yaml")],
  ["a folder is a repository of its own", (tree) => tree.write("lib/.git/HEAD", "ref: refs/heads/main\n")],
  ["a folder goes", (tree) => rmSync(join(tree.root, "lib"), { recursive: true, force: true })],
  ["a folder has another name", (tree) => renameSync(join(tree.root, "empty"), join(tree.root, "full"))],
];

function link(tree: SourceTree, path: string, target: string): void {
  rmSync(join(tree.root, path));
  symlinkSync(target, join(tree.root, path));
}

function replace(tree: SourceTree, path: string, text: string): void {
  tree.write(`${path}.aside`, text);
  renameSync(join(tree.root, `${path}.aside`), join(tree.root, path));
}

/** Gives each change a time of its own, as clocks of file systems are coarse. */
function age(tree: SourceTree, nth: number): void {
  const glob = new Bun.Glob("**/*");
  for (const path of glob.scanSync({ cwd: tree.root, onlyFiles: false, dot: true, followSymlinks: false }))
    if (!path.startsWith(".git/")) touch(join(tree.root, path), nth);
  touch(tree.root, nth);
}

function touch(path: string, nth: number): void {
  try {
    utimesSync(path, 1_700_000_000 + nth, 1_700_000_000 + nth);
  } catch {
    // A link whose target does not exist.
  }
}

for (const git of [true, false])
  test(`whatever changes in a folder ${git ? "with" : "without"} a repository`, async () => {
    const tree = createSourceTree(START);
    trees.push(tree);
    if (!git) rmSync(join(tree.root, ".git"), { recursive: true });
    const place = { root: tree.root };
    const looker = createLooker(place, tree.store, later);
    for (const [nth, [what, change]] of CHANGES.entries()) {
      if (!git && /git|repository/.test(what)) continue;
      change(tree);
      if (what !== "nothing") age(tree, nth);
      expect({ what, look: await looker.look() }).toEqual({ what, look: await lookAtFiles(place, tree.store) });
      // A second look, without a change in between.
      expect({ what, look: await looker.look() }).toEqual({ what, look: await lookAtFiles(place, tree.store) });
    }
  });

test("where nothing but files changed, their list is that of the look before", async () => {
  const tree = createSourceTree(START);
  trees.push(tree);
  const looker = createLooker({ root: tree.root }, tree.store, later);
  const { walk } = await looker.look();
  tree.write("src/tax.ts", `${SHOP["src/tax.ts"]}\n// longer`);
  const again = (await looker.look()).walk;
  expect(again.folders).toBe(walk.folders);
  expect(again.files).not.toEqual(walk.files);
  looker.forget();
  expect((await looker.look()).walk.folders).not.toBe(walk.folders);
});

test("what was written just before a look is walked again, as its time may stand for two states", async () => {
  const tree = createSourceTree(START);
  trees.push(tree);
  const looker = createLooker({ root: tree.root }, tree.store, () => 0);
  const { walk } = await looker.look();
  expect((await looker.look()).walk.folders).not.toBe(walk.folders);
});
