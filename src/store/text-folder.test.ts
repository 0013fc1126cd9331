import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oncePerSnapshot } from "./once-per-snapshot.ts";
import { createTextFolder, TEXT_FILE_BYTES, type TextFolder } from "./text-folder.ts";

const home = mkdtempSync(join(tmpdir(), "skep-text-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let root: string;
let outside: string;
let folder: TextFolder;
beforeEach(() => {
  root = mkdtempSync(join(home, "in-"));
  outside = mkdtempSync(join(home, "out-"));
  writeFileSync(join(outside, "secret.md"), "secret");
  folder = createTextFolder(root);
});
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe("text folder", () => {
  test("what is written is read back; an edit on disk counts at the next read, also one of equal length", () => {
    folder.write("a/b/c.md", "one");
    expect(folder.read("a/b/c.md")?.text).toBe("one");
    writeFileSync(join(root, "a/b/c.md"), "two");
    expect(folder.read("a/b/c.md")?.text).toBe("two");
    rmSync(join(root, "a/b/c.md"));
    expect(folder.read("a/b/c.md")).toBeUndefined();
    expect(readdirSync(join(root, "a/b"))).toEqual([]);
  });

  test("an unchanged file is not read again", () => {
    folder.write("x.md", "x");
    expect(folder.read("x.md")).toBe(folder.read("x.md"));
  });

  test("a snapshot in turns leaves others room, keeps what it looked at, and sees what is written through the folder", async () => {
    for (const name of ["one", "two", "three"]) folder.write(`a/${name}.md`, name);
    let others = 0;
    const other = setInterval(() => {
      others++;
      folder.write("a/two.md", "changed");
    }, 0);
    function* look() {
      for (const name of ["one", "two", "three"]) {
        folder.read(`a/${name}.md`);
        const until = performance.now() + 10;
        while (performance.now() < until);
        yield;
      }
    }
    const texts = () => {
      clearInterval(other);
      writeFileSync(join(root, "a/one.md"), "by an editor");
      return ["one", "two", "three"].map((name) => folder.read(`a/${name}.md`)?.text);
    };
    expect(await folder.snapshotInTurns(look, texts)).toEqual(["one", "changed", "three"]);
    expect(others).toBeGreaterThan(0);
    expect(folder.read("a/one.md")?.text).toBe("by an editor");
  });

  test("a snapshot looks at each file and folder once, sees what is written through it, and ends with the work", () => {
    folder.write("a/one.md", "1");
    const names = () => folder.list("a").map(({ name }) => name);
    folder.snapshot(() => {
      expect([folder.read("a/one.md")?.text, folder.read("a/two.md"), names()]).toEqual(["1", undefined, ["one.md"]]);
      writeFileSync(join(root, "a/one.md"), "edited");
      writeFileSync(join(root, "a/two.md"), "2");
      folder.snapshot(() => expect([folder.read("a/one.md")?.text, names()]).toEqual(["1", ["one.md"]]));
      expect([folder.read("a/two.md"), names()]).toEqual([undefined, ["one.md"]]);
      folder.write("a/three.md", "3");
      expect([folder.read("a/three.md")?.text, names()]).toEqual(["3", ["one.md", "three.md", "two.md"]]);
      expect(folder.read("a/one.md")?.text).toBe("1");
      folder.write("a/one.md", "mine");
      expect(folder.read("a/one.md")?.text).toBe("mine");
      folder.remove("a/three.md");
      expect([folder.read("a/three.md"), names()]).toEqual([undefined, ["one.md", "two.md"]]);
      folder.write("b/c/new.md", "n");
      expect([folder.read("b/c/new.md")?.text, folder.list("").length]).toEqual(["n", 2]);
      folder.remove("b");
      expect([folder.read("b/c/new.md"), folder.list("b/c")]).toEqual([undefined, []]);
    });
    const failing = () =>
      folder.snapshot(() => {
        folder.read("a/one.md");
        throw new Error("broken off");
      });
    expect(failing).toThrow("broken off");
    writeFileSync(join(root, "a/one.md"), "at once");
    expect(folder.read("a/one.md")?.text).toBe("at once");
  });

  test("what is written soon is read at once, in its file once it is on the disk, and only as it was last written", async () => {
    folder.write("a/one.md", "before");
    folder.writeSoon("a/one.md", "first");
    folder.writeSoon("a/one.md", "second");
    folder.writeSoon("a/two.md", "two");
    folder.writeSoon("b/gone.md", "gone");
    expect(["a/one.md", "a/two.md", "b/gone.md"].map((path) => folder.read(path)?.text)).toEqual([
      "second",
      "two",
      "gone",
    ]);
    expect(readFileSync(join(root, "a/one.md"), "utf8")).toBe("before");
    expect(folder.remove("b")).toBe(true);
    expect(folder.read("b/gone.md")).toBeUndefined();
    await folder.written();
    expect(readFileSync(join(root, "a/one.md"), "utf8")).toBe("second");
    writeFileSync(join(root, "a/one.md"), "an edit");
    expect([folder.read("a/one.md")?.text, folder.read("b/gone.md")]).toEqual(["an edit", undefined]);
    expect([readdirSync(root), readdirSync(join(root, "a")).sort()]).toEqual([["a"], ["one.md", "two.md"]]);
  });

  test("what could not be brought to the disk is said, and the file is read as it is", async () => {
    folder.write("a/one.md", "before");
    folder.writeSoon("a/one.md", "after");
    for (const name of readdirSync(join(root, "a"))) if (name.endsWith(".tmp")) rmSync(join(root, "a", name));
    await expect(folder.written()).rejects.toThrow("ENOENT");
    expect(folder.read("a/one.md")?.text).toBe("before");
    await folder.written();
  });

  test("many files are looked at once each, and one that changed is the only one read again", () => {
    for (let i = 0; i < 200; i++) folder.write(`many/${i}.md`, `${i}`);
    const all = () => folder.snapshot(() => folder.list("many").map(({ name }) => folder.read(`many/${name}`)));
    const before = all();
    writeFileSync(join(root, "many/7.md"), "x");
    const after = all();
    expect(after.filter((file, at) => file !== before[at]).map((file) => file?.text)).toEqual(["x"]);
  });

  test("links that lead out are as if absent: not listed, read, written, removed through", () => {
    symlinkSync(join(outside, "secret.md"), join(root, "leak.md"));
    symlinkSync(outside, join(root, "way"));
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, "inner"));
    expect(folder.list("")).toEqual([
      { name: "inner", kind: "folder" },
      { name: "real", kind: "folder" },
    ]);
    for (const path of ["leak.md", "way/secret.md", "../in", `../${outside.split("/").pop()}/secret.md`])
      expect([path, folder.read(path)]).toEqual([path, undefined]);
    expect(codeOf(() => folder.write("way/new.md", "x"))).toBe("outside_folder");
    expect(codeOf(() => folder.write("../new.md", "x"))).toBe("outside_folder");
    expect(codeOf(() => folder.remove("way/secret.md"))).toBe("outside_folder");
    folder.write("leak.md", "mine");
    expect(folder.remove("way")).toBe(true);
    expect(readFileSync(join(outside, "secret.md"), "utf8")).toBe("secret");
    expect(readdirSync(outside)).toEqual(["secret.md"]);
  });

  test("removing a folder leaves what its links lead to", () => {
    folder.write("skill/SKILL.md", "x");
    symlinkSync(outside, join(root, "skill/out"));
    expect([folder.remove("skill"), folder.remove("skill")]).toEqual([true, false]);
    expect(existsSync(join(outside, "secret.md"))).toBe(true);
  });

  test("files that cannot be text are named as problems", () => {
    writeFileSync(join(root, "large.md"), "x".repeat(TEXT_FILE_BYTES + 1));
    writeFileSync(join(root, "binary.md"), Uint8Array.from([0xff, 0xfe, 0x00]));
    mkdirSync(join(root, "folder.md"));
    expect(folder.read("large.md")?.problem).toContain("larger");
    expect(folder.read("binary.md")?.problem).toContain("UTF-8");
    expect(folder.read("folder.md")).toBeUndefined();
    expect(codeOf(() => folder.write("x.md", "x".repeat(TEXT_FILE_BYTES + 1)))).toBe("too_large");
  });

  test("what is made of files is made once in a snapshot until something is written, and each time outside", () => {
    let made = 0;
    const count = oncePerSnapshot(folder, () => ++made);
    expect([count("a"), count("a")]).toEqual([1, 2]);
    folder.snapshot(() => {
      expect([count("a"), count("b"), count("a")]).toEqual([3, 4, 3]);
      folder.write("a.md", "a", { synced: false });
      expect([count("a"), count("a")]).toEqual([5, 5]);
    });
    expect(folder.snapshot(() => count("a"))).toBe(6);
  });
});
