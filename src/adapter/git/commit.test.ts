/** Commits made through descriptors hold the same as with `git add`, and no unchanged file is read twice. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createGit } from "../git.ts";

const base = mkdtempSync(join(tmpdir(), "skep-commit-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "", HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
const git = createGit({ env });
const author = { name: "Agent <x>", email: "agent@skep.localhost" };

let made = 0;
let run: { repository: string; name: string; path: string };
let admin: string;
beforeEach(async () => {
  const home = join(base, String(made++));
  const repository = join(home, "git");
  await git.init({ repository, workspace: join(home, "workspace"), branch: "main" });
  run = { repository, name: "run_1", path: join(home, "run_1") };
  admin = join(repository, "worktrees/run_1");
  await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
});

const at = (path: string) => join(run.path, path);
function write(path: string, text: string | Uint8Array = path): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}
const commit = (message = "m") => git.commitAll(run, { message, author });
function plain(...args: string[]): string {
  const place = { GIT_DIR: admin, GIT_WORK_TREE: run.path };
  const ran = Bun.spawnSync(["git", ...args], { cwd: run.path, env: { ...env, ...place } });
  if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout.toString("latin1");
}
const tree = () => plain("ls-tree", "-r", "-z", "HEAD").split("\0").filter(Boolean);
/** What git itself would still commit or complain about. */
const readStatus = () => plain("status", "--porcelain", "--untracked-files=all", "-z");

describe("a commit", () => {
  test("holds files, programs, links and names of any bytes; git has nothing to add", async () => {
    for (const path of ["a", "d/e/f", "-rf", 'q"uo\\te', "new\nline", " lead", "tab\t", "ü/ö", "a.b", "a-b/c"])
      write(path);
    writeFileSync(Buffer.concat([Buffer.from(at("bytes-")), Buffer.from([0xff, 0xfe])]), "bytes");
    write("run.sh", "#!/bin/sh\n");
    chmodSync(at("run.sh"), 0o755);
    symlinkSync("nowhere/at all", at("link"));
    const done = await commit("Title\n\nfrom <nobody> now\ndata 5");
    expect(done).toMatchObject({ commit: expect.stringMatching(/^[0-9a-f]{40}$/), skipped: [] });
    expect(readStatus()).toBe("");
    expect(tree().find((line) => line.endsWith("\trun.sh"))).toStartWith("100755");
    expect(tree().find((line) => line.endsWith("\tlink"))).toStartWith("120000");
    expect(tree().some((line) => line.endsWith("\tbytes-\xff\xfe"))).toBe(true);
    expect(plain("log", "-1", "--format=%an|%ae|%B")).toBe(
      "Agent x|agent@skep.localhost|Title\n\nfrom <nobody> now\ndata 5\n\n",
    );
    plain("fsck", "--strict");
  });

  test("follows every change: content, mode, names that become folders or links, and back", async () => {
    for (const path of ["keep", "change", "mode", "to-folder", "to-link", "folder/x", "folder/y", "gone/deep/z"])
      write(path);
    await commit();
    appendFileSync(at("change"), "more");
    chmodSync(at("mode"), 0o755);
    rmSync(at("to-folder"));
    write("to-folder/inner");
    rmSync(at("to-link"));
    symlinkSync("keep", at("to-link"));
    rmSync(at("folder"), { recursive: true });
    symlinkSync("gone", at("folder"));
    rmSync(at("gone"), { recursive: true });
    expect((await commit()).commit).not.toBeNull();
    expect(readStatus()).toBe("");
    for (const path of ["to-folder", "folder", "to-link"]) rmSync(at(path), { recursive: true });
    for (const path of ["to-folder", "folder/x", "to-link"]) write(path);
    await commit();
    expect(readStatus()).toBe("");
    expect(tree().map((line) => line.split("\t")[1])).toEqual([
      "change",
      "folder/x",
      "keep",
      "mode",
      "to-folder",
      "to-link",
    ]);
    expect((await commit()).commit).toBeNull();
  });

  test("sees the same size at the same time, and content that only looks new", async () => {
    write("file", "one");
    const then = new Date(Date.now() - 60_000);
    utimesSync(at("file"), then, then);
    await commit();
    write("file", "two");
    utimesSync(at("file"), then, then);
    expect((await commit()).commit).not.toBeNull();
    expect(plain("show", "HEAD:file")).toBe("two");
    write("file", "two");
    expect((await commit()).commit).toBeNull();
    write("file", "six");
    expect((await commit()).commit).not.toBeNull();
  });

  test("leaves out what ignore files say, but not what is tracked", async () => {
    write("out/tracked");
    write("kept.log");
    await commit();
    write(".gitignore", "*.log\nout/\n");
    write("out/new");
    write("other.log");
    appendFileSync(at("out/tracked"), "more");
    appendFileSync(at("kept.log"), "more");
    await commit();
    expect(tree().map((line) => line.split("\t")[1])).toEqual([".gitignore", "kept.log", "out/tracked"]);
    expect(readStatus()).toBe("");
    rmSync(at("out"), { recursive: true });
    await commit();
    expect(tree().map((line) => line.split("\t")[1])).toEqual([".gitignore", "kept.log"]);
  });

  test("takes an empty ignore file, and one that is a link or too large, as none", async () => {
    write(".gitignore", "");
    write("d/.gitignore", "x\n".repeat(40_000));
    symlinkSync("../d/.gitignore", at("link-target"));
    mkdirSync(at("e"));
    symlinkSync("../d/.gitignore", at("e/.gitignore"));
    for (const path of ["x", "d/x", "e/x"]) write(path);
    await commit();
    const paths = tree().map((line) => line.split("\t")[1]);
    for (const path of ["x", "d/x", "e/x", ".gitignore", "d/.gitignore"]) expect(paths).toContain(path);
  });

  test("refuses the names that git refuses, and says which", async () => {
    const unusable = [
      "git~1",
      ".GIT",
      "d/.git.",
      "d/.git ",
      "e/.g\u200cit",
      "f/.git::$INDEX_ALLOCATION",
      "g/a\\.git\\x",
    ];
    for (const path of [...unusable, "fine"]) write(path);
    symlinkSync("fine", at(".gitmodules"));
    const { skipped } = await commit();
    expect(skipped.map(({ path, why }) => `${path}: ${why}`).sort()).toEqual(
      [...unusable, ".gitmodules"].map((path) => `${path}: unusable name`).sort(),
    );
    expect(tree().map((line) => line.split("\t")[1])).toEqual(["fine"]);
    plain("fsck", "--strict");
  });

  test("keeps a tracked file as it was when it becomes too large or what is not a file", async () => {
    for (const path of ["large", "pipe", "other"]) write(path);
    await commit();
    truncateSync(at("large"), 101 * 1024 * 1024);
    rmSync(at("pipe"));
    Bun.spawnSync(["mkfifo", at("pipe")]);
    appendFileSync(at("other"), "more");
    const { skipped } = await commit();
    expect(skipped).toEqual(
      expect.arrayContaining([
        { path: "large", why: "too large" },
        { path: "pipe", why: "no regular file" },
      ]),
    );
    expect(plain("show", "HEAD:large")).toBe("large");
    expect(plain("show", "HEAD:pipe")).toBe("pipe");
    expect(plain("show", "HEAD:other")).toBe("othermore");
  });

  test("continues after somebody's own commit, with a damaged index, and without one", async () => {
    write("a");
    await commit();
    write("b");
    plain("add", "b");
    plain("-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-qm", "theirs");
    write("c");
    expect((await commit()).commit).not.toBeNull();
    for (const spoil of [
      () => writeFileSync(join(admin, "index"), "DIRC nonsense"),
      () => writeFileSync(join(admin, "index"), readFileSync(join(admin, "index")).subarray(0, 100)),
      () => rmSync(join(admin, "index")),
    ]) {
      spoil();
      expect((await commit()).commit).toBeNull();
      rmSync(at("c"));
      spoil();
      expect((await commit()).commit).not.toBeNull();
      write("c");
      await commit();
    }
    expect(tree().map((line) => line.split("\t")[1])).toEqual(["a", "b", "c"]);
    expect(readStatus()).toBe("");
  });

  test("of a sha256 repository is one too", async () => {
    const home = join(base, `sha256-${made++}`);
    mkdirSync(home);
    const upstream = join(home, "upstream");
    Bun.spawnSync(["git", "init", "-q", "--object-format=sha256", "-b", "main", upstream], { env });
    const place = { repository: join(home, "git"), workspace: join(home, "workspace") };
    Bun.spawnSync(
      ["git", "-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-q", "--allow-empty", "-m", "first"],
      { cwd: upstream, env },
    );
    await git.clone({ source: upstream, transport: "file", ...place, signal: new AbortController().signal });
    run = { repository: place.repository, name: "run_1", path: join(home, "run_1") };
    admin = join(place.repository, "worktrees/run_1");
    await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
    for (const path of ["a", "d/b"]) write(path);
    expect((await commit()).commit).toHaveLength(64);
    appendFileSync(at("a"), "more");
    await commit();
    expect(readStatus()).toBe("");
  });

  test("is what git would have made, after any edits", async () => {
    const name = fc.constantFrom("a", "b", "a.b", "d", "d/a", "d/b", "d/d/a", "e/a", "a/x");
    const edit = fc.tuple(fc.constantFrom("write", "link", "remove", "program"), name, fc.integer({ min: 0, max: 3 }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(edit, { maxLength: 6 }), { minLength: 1, maxLength: 3 }), async (rounds) => {
        for (const edits of rounds) {
          for (const [kind, path, value] of edits) {
            try {
              rmSync(at(path), { recursive: true, force: true });
              if (kind === "link") symlinkSync(String(value), at(path));
              else if (kind !== "remove") write(path, String(value));
              if (kind === "program") chmodSync(at(path), 0o755);
            } catch {
              // A file is in the place of a folder that this edit needs, so the edit changes nothing.
            }
          }
          await commit();
          expect(readStatus()).toBe("");
        }
      }),
      { seed: 3, numRuns: 25 },
    );
  }, 300_000);
});
