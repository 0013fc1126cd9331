/** Parsing in several processes, and what is lost when one of them dies. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { createSourceTree, type SourceTree } from "../../testing/source-tree.ts";
import { exportLines } from "../serve/export.ts";
import { createGraphSession } from "../serve/session.ts";
import type { Scratch } from "../store/graph-store.ts";
import { createParsePool } from "./parse-pool.ts";

setDefaultTimeout(300_000);
const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

/** More bytes than are parsed in the process itself. */
function largeTree(): { tree: SourceTree; files: { path: string; hash: string; size: number }[] } {
  const text = "export function f(n: number): number { return n; }\n".repeat(2_000);
  const sources = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`src/f${i}.ts`, text]));
  const tree = createSourceTree(sources);
  trees.push(tree);
  return { tree, files: Object.keys(sources).map((path) => ({ path, hash: "", size: text.length })) };
}

/** @param path given in place of the path of each new file */
function createScratch(path?: string): Scratch {
  const folder = mkdtempSync(join(tmpdir(), "skep-parse-pool-"));
  let files = 0;
  return {
    newPath: () => path ?? join(folder, `${files++}.bin`),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/** Ids of this process's children that parse. */
function parsers(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
        return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("parse-worker");
      } catch {
        return false;
      }
    });
}

test.each([
  ["dies", "SIGKILL", undefined],
  ["hangs", "SIGSTOP", 20_000],
] as const)("a process that %s costs a try of its files, and none of them", async (_, signal, timeoutMs) => {
  const { tree, files } = largeTree();
  let answered = 0;
  const hit: number[] = [];
  using scratch = createScratch();
  using pool = createParsePool(tree.root, scratch, timeoutMs);
  const parsed = await pool.parseAll({
    files,
    progress() {
      if (answered++ > 0) return;
      hit.push(...parsers());
      for (const pid of hit) process.kill(pid, signal);
    },
  });
  expect(hit, "no process was there to be hit").not.toEqual([]);
  expect(parsed.map(({ path }) => path).sort()).toEqual(files.map(({ path }) => path).sort());
  for (const { path, note, facts } of parsed) expect([path, note, facts().length > 0]).toEqual([path, "", true]);
  await waitFor(() => parsers().length === 0, "the end of all parsing processes");
});

test("files under which each process dies are named, and the index goes on", async () => {
  const { tree, files } = largeTree();
  const killing = setInterval(() => {
    for (const pid of parsers()) process.kill(pid, "SIGKILL");
  }, 1);
  try {
    using scratch = createScratch();
    using pool = createParsePool(tree.root, scratch);
    const parsed = await pool.parseAll({ files, progress() {} });
    expect(parsed.map(({ path }) => path).sort()).toEqual(files.map(({ path }) => path).sort());
    // A process that answers before it is found and killed has parsed its file.
    const lost = parsed.filter(({ facts }) => facts().length === 0);
    expect(new Set(lost.map(({ note }) => note))).toEqual(new Set(["the parser crashed or hung on this file"]));
  } finally {
    clearInterval(killing);
  }
});

test("processes that were started for files that are not parsed after all are ended", async () => {
  const { tree, files } = largeTree();
  using scratch = createScratch();
  {
    using pool = createParsePool(tree.root, scratch);
    for (const { size } of files) pool.expect(size);
    expect(parsers().length, "none was started before it was asked").toBeGreaterThan(1);
  }
  await waitFor(() => parsers().length === 0, "the end of all parsing processes");
});

test("a folder that vanishes while its files are parsed fails the index", async () => {
  const { tree, files } = largeTree();
  using scratch = createScratch();
  using pool = createParsePool(tree.root, scratch);
  const parsing = pool.parseAll({ files, progress: () => rmSync(tree.root, { recursive: true, force: true }) });
  expect(await parsing.then(() => "parsed", String)).toContain("ENOENT");
});

test("a full disk fails the index, and says so", async () => {
  const { tree, files } = largeTree();
  using scratch = createScratch("/dev/full");
  using pool = createParsePool(tree.root, scratch);
  expect(await pool.parseAll({ files, progress() {} }).then(() => "parsed", String)).toContain("ENOSPC");
});

test("facts that processes wrote are kept by the next index, beside those of files that changed", async () => {
  const { tree, files } = largeTree();
  const session = createGraphSession({ root: tree.root, store: tree.store });
  await session.index({ force: false });
  for (const [i, { path }] of files.entries())
    if (i % 3 > 0) tree.write(path, `export function g${i}(): void {}\n`.repeat(3_000));
  expect(await session.index({ force: false })).toMatchObject({ parsed: 20 });
  tree.write("src/f0.ts", "import { g1 } from './f1';\nexport function first(): void {\n  g1();\n}\n");
  await session.index({ force: false });
  const full = createGraphSession({ root: tree.root, store: `${tree.store}-full` });
  await full.index({ force: true });
  expect([...exportLines(session.graph(), "jsonl")]).toEqual([...exportLines(full.graph(), "jsonl")]);
  rmSync(`${tree.store}-full`, { recursive: true });
});

test("an index leaves nothing but the graph, and takes away what one left that was killed a day ago", async () => {
  const { tree } = largeTree();
  const [old, recent] = [join(tree.store, "new-old"), join(tree.store, "new-recent")];
  for (const folder of [old, recent]) mkdirSync(folder, { recursive: true });
  const yesterday = Date.now() / 1_000 - 25 * 60 * 60;
  utimesSync(old, yesterday, yesterday);
  await createGraphSession({ root: tree.root, store: tree.store }).index({ force: false });
  // Another index job may still be using the recent folder.
  expect(readdirSync(tree.store).sort()).toEqual(["g1", "manifest.json", "new-recent"]);
});
