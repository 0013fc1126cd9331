/** Everything reached from an open folder is below it, both with `openat2` and component by component without it. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSwapper } from "../testing/swapper.ts";
import { FileError, type Folder, openFolder, removeFolder } from "./folder.ts";
import { loadLibc } from "./libc.ts";
import { walkBeneath } from "./walk.ts";

const base = mkdtempSync(join(tmpdir(), "skep-below-"));
const outside = join(base, "outside");
afterAll(() => rmSync(base, { recursive: true, force: true }));
mkdirSync(outside);
writeFileSync(join(outside, "file"), "outside");

let made = 0;
let root: string;
beforeEach(() => {
  root = join(base, `root-${made++}`);
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "a/b/file"), "inside");
  symlinkSync(outside, join(root, "link"));
  symlinkSync("a", join(root, "within"));
});

/** The kernel can list two short names in this many bytes, so each call ends early, as if by a signal. */
const BYTES_OF_TWO = 48;

const code = (act: () => unknown): string => {
  try {
    act();
    return "done";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe.each([
  ["by openat2", loadLibc()],
  ["component by component", loadLibc(true)],
] as const)("a folder opened %s", (_how, system) => {
  const open = (): Folder => openFolder(root, "utf8", system);

  test("reads, lists, makes, renames and removes below itself", async () => {
    using top = open();
    expect(top.readFile("a/b/file", 100).toString()).toBe("inside");
    expect(top.list()).toEqual([
      { name: "a", kind: "folder" },
      { name: "link", kind: "link" },
      { name: "within", kind: "link" },
    ]);
    top.makeFolder("a/new");
    top.createFile("a/new/x", Buffer.from("x"), { mode: 0o750 });
    expect(statSync(join(root, "a/new/x")).mode & 0o777).toBe(0o750);
    top.rename("a/new/x", "a/b/y");
    expect(top.find("a/new/x")).toBeUndefined();
    expect(top.stat("a/b/y")).toMatchObject({ kind: "file", size: 1 });
    expect(top.readLink("link")).toBe(outside);
    top.unlink("link");
    await top.empty();
    expect([readdirSync(root), readdirSync(outside)]).toEqual([[], ["file"]]);
  });

  test("follows no link, wherever it is and wherever it leads", () => {
    using top = open();
    const acts: [string, () => unknown][] = [
      ["read through one", () => top.readFile("link/file", 100)],
      ["read through one that stays inside", () => top.readFile("within/b/file", 100)],
      ["read one", () => top.openFile("link")],
      ["open one as a folder", () => top.folder("link")],
      ["list through one", () => top.folder("within/b")],
      ["make through one", () => top.makeFolder("link/made")],
      ["create through one", () => top.createFile("link/made", Buffer.from("x"))],
      ["rename into one", () => top.rename("a/b/file", "link/file")],
      ["remove through one", () => top.unlink("link/file")],
      ["stat through one", () => top.stat("link/file")],
      ["chown through one", () => top.chown("link/file", { uid: 0, gid: 0 })],
    ];
    for (const [what, act] of acts) expect([what, ["ELOOP", "ENOTDIR"].includes(code(act))]).toEqual([what, true]);
    expect(code(() => top.createFile("link", Buffer.from("x")))).toBe("EEXIST");
    expect(top.stat("link").kind).toBe("link");
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("outside");
    expect(readdirSync(outside)).toEqual(["file"]);
  });

  test("takes no path that is not below it", () => {
    using top = open();
    const paths = ["..", ".", "../outside/file", "/etc/passwd", "a/../../outside/file", "a//b", "a/./b", "a/", "/"];
    for (const path of paths) expect([path, code(() => top.openFile(path))]).toEqual([path, "EXDEV"]);
    expect(code(() => top.openFile("a\0b"))).toBe("EINVAL");
    expect(code(() => top.openFile(`${"x/".repeat(3_000)}x`))).toBe("ENAMETOOLONG");
    expect(code(() => top.openFile("x".repeat(300)))).toBe("ENAMETOOLONG");
  });

  test("reads regular files only, up to a size, and never waits", () => {
    using top = open();
    execFileSync("mkfifo", [join(root, "pipe")]);
    using socket = Bun.listen({ unix: join(root, "socket"), socket: { data() {} } });
    expect(socket).toBeDefined();
    expect(code(() => top.readFile("pipe", 10))).toBe("ENXIO");
    expect(code(() => top.readFile("socket", 10))).toBe("ENXIO");
    expect(code(() => top.readFile("a", 10))).toBe("EISDIR");
    expect(code(() => top.readFile("a/b/file", 5))).toBe("EFBIG");
    expect(top.list().map(({ kind }) => kind)).toEqual(["folder", "link", "other", "other", "link"]);
  });

  test("reads names of any bytes, and folders of any size, whole", () => {
    const names = Array.from({ length: 3_000 }, (_, n) => `name-${n}-${"x".repeat(n % 100)}`);
    mkdirSync(join(root, "many"));
    for (const name of names) writeFileSync(join(root, "many", name), "");
    writeFileSync(Buffer.concat([Buffer.from(join(root, "many/")), Buffer.from([0xff, 0x0a, 0x80])]), "bytes");
    using top = openFolder(root, "latin1", system);
    using many = top.folder("many");
    const found = many.list().map(({ name }) => name);
    expect(found.length).toBe(3_001);
    expect(new Set(found)).toEqual(new Set([...names, "\xff\n\x80"]));
    expect(many.readFile("\xff\n\x80", 10).toString()).toBe("bytes");
  });

  test("leaks no descriptor, also where it fails", async () => {
    const openNow = () => readdirSync("/proc/self/fd").length;
    const before = openNow();
    for (let round = 0; round < 200; round++) {
      using top = open();
      code(() => top.readFile("link/file", 1));
      code(() => top.readFile("a/b/none", 1));
      code(() => top.folder("a/b/file"));
      code(() => top.stat("a/none/deeper"));
      for (const _batch of top.batches()) break;
      top.list();
    }
    // Other code may have opened one or two files meanwhile.
    expect(openNow() - before).toBeLessThan(20);
  });

  test("never leads out while a folder and a link are swapped", async () => {
    symlinkSync(join(outside), join(root, "twin"));
    mkdirSync(join(root, "d"));
    writeFileSync(join(root, "d/file"), "inside");
    const swapper = startSwapper([[join(root, "d"), join(root, "twin")]]);
    const seen = new Set<string>();
    using top = open();
    for (let round = 0; round < 20_000 || (seen.size < 2 && round < 2_000_000); round++) {
      const failed = code(() => seen.add(top.readFile("d/file", 100).toString()));
      if (failed !== "done") seen.add(failed);
    }
    await swapper.stop();
    expect(seen.has("outside")).toBe(false);
    expect(seen.has("inside")).toBe(true);
    expect([...seen].every((one) => ["inside", "ELOOP", "ENOTDIR", "ENOENT"].includes(one))).toBe(true);
  });
});

test("a walk continues past a folder that cannot be looked into, and names it", async () => {
  mkdirSync(join(root, "z"));
  using top = openFolder(root);
  const unreadable: string[] = [];
  const walked: string[] = [];
  const enter = (path: string) => {
    if (path === "a") throw new FileError("EACCES", "stat");
    return true;
  };
  for await (const part of walkBeneath(top, { enter, onUnreadable: (path) => unreadable.push(path) }))
    walked.push(part.path);
  expect([unreadable, walked.filter((path) => path.startsWith("a")), walked.includes("")]).toEqual([["a"], [], true]);
});

test("a thread of its own can do the same", async () => {
  const script = `
    import { openFolder } from ${JSON.stringify(join(import.meta.dir, "folder.ts"))};
    using top = openFolder(${JSON.stringify(root)});
    postMessage(top.list().map(({ name }) => name).join());`;
  const threads = Array.from({ length: 4 }, () => new Worker(`data:text/typescript,${encodeURIComponent(script)}`));
  const answers = await Promise.all(
    threads.map(
      (thread) =>
        new Promise((done, fail) => {
          thread.onmessage = ({ data }) => done(data);
          thread.onerror = ({ message }) => fail(new Error(message));
        }),
    ),
  );
  for (const thread of threads) thread.terminate();
  expect(answers).toEqual(Array(4).fill("a,link,within"));
});

test("removing a folder takes deep trees, read-only files and links, and leaves hard-linked files elsewhere whole", async () => {
  const deep = join(root, "deep");
  mkdirSync(join(deep, ...Array.from({ length: 300 }, () => "d")), { recursive: true });
  linkSync(join(outside, "file"), join(deep, "hard"));
  symlinkSync(outside, join(deep, "link"));
  writeFileSync(join(deep, "readonly"), "x");
  chmodSync(join(deep, "readonly"), 0o400);
  await removeFolder(deep);
  await removeFolder(deep);
  expect([existsSync(deep), readFileSync(join(outside, "file"), "utf8")]).toEqual([false, "outside"]);
});

test("a folder is not taken for empty when a call lists no more than the folder itself and the one above it", () => {
  using top = openFolder(root, "utf8", loadLibc(false, BYTES_OF_TWO));
  expect(top.list().map(({ name }) => name)).toEqual(["a", "link", "within"]);
});
