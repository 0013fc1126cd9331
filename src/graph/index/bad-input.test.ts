/** Untidy folders. Each gives an index and a report that names the files left out, and never a crash. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSourceTree, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import { createGraphSession } from "../serve/session.ts";

setDefaultTimeout(300_000);
const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

function treeOf(files: Record<string, string>, options: { git?: boolean } = {}): SourceTree {
  const tree = createSourceTree(files, options);
  trees.push(tree);
  return tree;
}

async function indexOf({ root, store }: SourceTree) {
  const session = createGraphSession({ root, store });
  const { manifest } = await session.index({ force: false });
  return { session, manifest, skipped: Object.fromEntries(manifest.skipped.map(({ path, reason }) => [path, reason])) };
}

describe("an index of", () => {
  test("a repository without source is empty, ready, and answers", async () => {
    const { session, manifest } = await indexOf(treeOf({ "README.md": "hello", "data.csv": "1,2\n" }));
    expect(manifest.files).toBe(0);
    expect((await session.status()).state).toBe("ready");
    expect(session.query({ query: "anything", limit: 10, includeCode: true }).items).toEqual([]);
    expect(session.context("anything")).toEqual({ found: "none", name: "anything", near: [] });
    expect((await session.changes()).files).toEqual([]);
    expect((await session.cypher("MATCH (n) RETURN count(*)", {}, 1)).rows).toEqual([[0]]);
  });

  test("an empty folder, and a repository without a commit", async () => {
    expect((await indexOf(treeOf({}, { git: false }))).manifest.files).toBe(0);
    const fresh = treeOf(SHOP, { git: false });
    fresh.git("init", "-q");
    const { session, manifest } = await indexOf(fresh);
    expect([manifest.files, manifest.commit]).toEqual([3, ""]);
    expect((await session.changes()).symbols.length).toBeGreaterThan(3);
  });

  test("source that no parser reads names the file, its lines and their share, and keeps what stands around", async () => {
    const broken = "export function before2() {}\n@@ ## %% (( ]]\n";
    const { session, manifest } = await indexOf(
      treeOf({ "src/a.ts": broken, "src/b.py": "def ok():\n    return 1\n\n)) ((\n" }),
    );
    expect(manifest.unread.files).toBe(2);
    expect(manifest.unread.worst.map(({ path }) => path).sort()).toEqual(["src/a.ts", "src/b.py"]);
    expect(manifest.unread.share).toBeGreaterThan(0);
    const context = session.context("ok");
    expect(context.found === "one" && context.context.unread).toEqual({ lines: 1, of: 5 });
    expect((await session.status()).unread.lines).toBe(manifest.unread.lines);
  });

  test("a file of a million lines names it as too large; one long line as generated", async () => {
    const { skipped, manifest } = await indexOf(
      treeOf({
        ...SHOP,
        "src/million.ts": "f();\n".repeat(1_000_000),
        "src/line.js": `var a=[${"1,".repeat(200_000)}1];`,
        "lib/x.min.js": "var a",
      }),
    );
    expect(skipped).toMatchObject({
      "src/million.ts": "too large",
      "lib/x.min.js": "generated",
      "src/line.js": "generated",
    });
    expect(manifest.files).toBe(3);
  });

  test("bytes that are no UTF-8, NUL, a byte order mark and lone carriage returns keeps what can be read", async () => {
    const tree = treeOf(SHOP);
    tree.write(
      "src/latin.ts",
      Buffer.from("export function caf\xe9() { return '\xff\xfe'; }\nexport function plain() {}\n", "latin1"),
    );
    tree.write("src/nul.ts", "export function nul() { return '\0'; }\n");
    tree.write("src/bom.ts", "\ufeffexport function marked() {}\n");
    tree.write("src/mac.ts", "export function mac() {}\rexport function second() {}\r");
    tree.write(
      "src/binary.ts",
      new Uint8Array(4_096).map((_, i) => (i * 37) % 256),
    );
    tree.write("src/empty.ts", "");
    const { session, manifest } = await indexOf(tree);
    expect(manifest.files + manifest.failed.length + manifest.skippedCount).toBe(9);
    for (const name of ["plain", "nul", "marked"]) expect(session.context(name).found).toBe("one");
    expect((await session.cypher("MATCH (f:File) RETURN count(*)", {}, 1)).rows).toEqual([[manifest.files]]);
  });

  test("syntax errors keeps the symbols around them", async () => {
    const { session, manifest } = await indexOf(
      treeOf({
        ...SHOP,
        "src/broken.ts":
          "export function before() {}\nfunction ( {{{ ]\n<<<<<<< HEAD\nexport function after() { before(); }\n",
        "src/broken.py": "def good():\n    pass\n\ndef bad(:\n  return (((\n",
        "src/deep.ts": `const x = ${"(".repeat(20_000)}1${")".repeat(20_000)};\nexport function beside() {}\n`,
      }),
    );
    expect(session.context("before").found).toBe("one");
    expect(session.context("good").found).toBe("one");
    expect(manifest.files + manifest.failed.length + manifest.skippedCount).toBe(6);
  });

  test("names that hold brackets, quotes and signs of patterns keeps all facts of their files", async () => {
    const odd =
      'package odd\n\nfunc before() {}\n\nfunc use() {\n\tf("(") := 1\n\tg["[a-"] := h("*+?")\n\tbefore()\n}\n';
    const { session, skipped } = await indexOf(
      treeOf({ "odd.go": odd, "odd.py": 'def use():\n    f("(")[")"] = 1\n    before()\n\ndef before():\n    pass\n' }),
    );
    expect(skipped).toEqual({});
    for (const file of ["odd.go", "odd.py"]) {
      const { rows } = await session.cypher(
        "MATCH (a:Function)-[:CALLS]->(b:Function) WHERE a.file_path = $file RETURN a.name, b.name",
        { file },
        10,
      );
      expect([file, rows]).toEqual([file, [["use", "before"]]]);
    }
  });

  test("loops of symbolic links and links that lead out follows none and names them", async () => {
    for (const git of [true, false]) {
      const tree = treeOf(SHOP, { git });
      symlinkSync("..", join(tree.root, "src/loop"));
      symlinkSync("self.ts", join(tree.root, "src/self.ts"));
      symlinkSync("/etc/hostname", join(tree.root, "src/out.ts"));
      symlinkSync("/etc", join(tree.root, "etc"));
      const { manifest, skipped } = await indexOf(tree);
      expect(manifest.files).toBe(3);
      expect(skipped).toEqual({ "src/out.ts": "symbolic link", "src/self.ts": "symbolic link" });
    }
  });

  test("a submodule names it and leaves its files to their own repository", async () => {
    const other = treeOf({ "lib.ts": "export function lib() {}\n" });
    const tree = treeOf(SHOP);
    tree.git("submodule", "--quiet", "add", other.root, "vendor/lib");
    tree.git("commit", "-qm", "submodule");
    const { manifest, skipped } = await indexOf(tree);
    expect(skipped).toEqual({ "vendor/lib": "submodule" });
    expect(manifest.files).toBe(3);
  });

  test("a folder without git, or ignored by a repository around it, honours the ignore files in it", async () => {
    const files = {
      ...SHOP,
      ".gitignore": "out/\n*.gen.ts\n!keep.gen.ts\n",
      "out/a.ts": "x()",
      "b.gen.ts": "x()",
      "keep.gen.ts": "y()",
    };
    const alone = await indexOf(treeOf(files, { git: false }));
    expect(alone.manifest.files).toBe(4);
    expect(await alone.session.changes().catch((error) => error.code)).toBe("no_repository");
    const around = treeOf({ ".gitignore": "inner/\n" });
    for (const [path, text] of Object.entries(files)) around.write(`inner/${path}`, text);
    const inner = await indexOf({ ...around, root: join(around.root, "inner") });
    expect(inner.manifest.files).toBe(4);
  });

  test("CRLF line ends counts lines as editors do, and maps changes to them", async () => {
    const tree = treeOf(
      Object.fromEntries(Object.entries(SHOP).map(([path, text]) => [path, text.replaceAll("\n", "\r\n")])),
    );
    const { session } = await indexOf(tree);
    const answer = session.context("round");
    expect(answer.found === "one" && [answer.context.symbol.start_line, answer.context.symbol.end_line]).toEqual([
      5, 7,
    ]);
    tree.write("src/tax.ts", SHOP["src/tax.ts"].replace("1.2", "1.3").replaceAll("\n", "\r\n"));
    const { symbols } = await session.changes();
    expect(symbols.map(({ symbol, lines }) => [symbol.name, lines])).toEqual([["withTax", [[2, 2]]]]);
  });

  test("names that mean something to JavaScript, git, CSV or Cypher", async () => {
    const named = "export function work() {}\n";
    const tree = treeOf({
      "__proto__.ts":
        "export const __proto__ = 1;\nexport function constructor() {}\nexport class toString { hasOwnProperty() {} }\n",
      "constructor.py": "class __proto__:\n    def prototype(self): pass\n",
      "-rf.ts": named,
      "a b'\"`,$.ts": named,
      "line\nbreak.ts": named,
      "ünï/日本.ts": named,
      'quote".js': 'function q() { return `a,"b"\n`; }\n',
    });
    const { session, manifest } = await indexOf(tree);
    expect([manifest.files, manifest.failed]).toEqual([7, []]);
    expect(session.context("hasOwnProperty").found).toBe("one");
    expect(session.context("__proto__").found).toBe("several");
    const paths = (await session.cypher("MATCH (f:File) RETURN f.qualified_name ORDER BY f.key", {}, 10)).rows.flat();
    expect(paths).toContain("line\nbreak.ts");
    expect(paths.length).toBe(7);
    tree.write("ünï/日本.ts", "export function work() { return 1; }\n");
    expect((await session.changes()).symbols.map(({ symbol }) => symbol.file_path)).toEqual(["ünï/日本.ts"]);
  });

  test("files that vanish while it runs, and folders that cannot be read", async () => {
    const many: Record<string, string> = {};
    for (let n = 0; n < 200; n++) many[`src/f${n}.ts`] = `export function f${n}() {}\n`;
    const tree = treeOf(many);
    tree.write("gone/only.ts", "x()");
    tree.git("add", "-A");
    rmSync(join(tree.root, "gone"), { recursive: true });
    const session = createGraphSession({ root: tree.root, store: tree.store });
    const { manifest } = await session.index({
      force: false,
      progress: (phases) => {
        if (phases[0]?.state === "done")
          for (let n = 0; n < 100; n++) rmSync(join(tree.root, `src/f${n}.ts`), { force: true });
      },
    });
    expect([manifest.files, manifest.failed]).toEqual([100, []]);
    expect(
      await createGraphSession({ root: join(tree.root, "nowhere"), store: tree.store })
        .index({ force: true })
        .catch((error) => error.code),
    ).toBe("ENOENT");
  });

  test("types that stand for each other 25,000 deep ends, and names the file that was too much", async () => {
    const depth = 25_000;
    const chain = Array.from({ length: depth }, (_, n) => `type T${n} = T${n + 1};`).join("\n");
    const end = `type T${depth} = Box;\nclass Box { open() {} }\nexport function use(box: T0) { box.open(); }\n`;
    const tree = treeOf({ "deep.ts": `${chain}\n${end}`, "plain.ts": "function a() { b(); }\nfunction b() {}\n" });
    const { session, manifest } = await indexOf(tree);
    expect(manifest.failed.map(({ path }) => path)).toEqual(["deep.ts"]);
    expect(session.context("b", "plain.ts")).toMatchObject({ found: "one", context: { totals: { callers: 1 } } });
    tree.write("plain.ts", "function a() { c(); }\nfunction c() {}\n");
    const again = await session.index({ force: false });
    expect([again.changed, again.manifest.failed]).toEqual([true, manifest.failed]);
  });

  test("50,000 files ends whole, and that nothing changed is found without parsing", async () => {
    const tree = treeOf({}, { git: false });
    // Hard links to a few files: the same number of entries in less time.
    for (let n = 0; n < 100; n++) tree.write(`base/f${n}.ts`, `export const f${n} = ${n};\n`);
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(join(tree.root, `d${folder}`));
      for (let n = 0; n < 499; n++)
        linkSync(join(tree.root, `base/f${n % 100}.ts`), join(tree.root, `d${folder}/f${n}.ts`));
    }
    const { session, manifest } = await indexOf(tree);
    expect(manifest.files).toBe(50_000);
    const again = await session.index({ force: false });
    expect([again.changed, again.parsed]).toEqual([false, 0]);
    expect(session.context("f7", "d99/f7.ts").found).toBe("one");
  }, 300_000);

  test("a graph that is broken, cut short or of another version is rebuilt", async () => {
    const tree = treeOf(SHOP);
    const { session } = await indexOf(tree);
    const folder = join(tree.store, "g1");
    for (const name of ["graph.bin", "files.bin", "facts-0.bin"]) writeFileSync(join(folder, name), "nonsense");
    const reopened = createGraphSession({ root: tree.root, store: tree.store });
    expect(() => reopened.context("withTax")).toThrow("index again");
    await reopened.index({ force: true });
    expect(reopened.context("withTax").found).toBe("one");
    writeFileSync(join(tree.store, "manifest.json"), "{");
    expect((await session.status()).state).toBe("not_indexed");
    await session.index({ force: false });
    expect(session.context("withTax").found).toBe("one");
  });
});
