/** File access that stays inside a workspace despite links, pipes, races and ownership. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { LIMITS } from "../../core/limits.ts";
import type { Workspace } from "../../engine/sandbox.ts";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { isRoot, lacks } from "../../testing/parts.ts";
import { parseIgnoreRules } from "../../working-copy/ignore-rules.ts";
import { createWorkspaceFiles } from "./workspace-files.ts";
import { giveWorkspace } from "./workspace-owner.ts";

const text = (data: Uint8Array) => Buffer.from(data).toString();
const bytes = (data: string) => Buffer.from(data);

describe("files of a workspace", () => {
  let base: string;
  let root: string;
  let outside: string;
  let files: Workspace;
  const bases: string[] = [];
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "skep-files-"));
    bases.push(base);
    root = join(base, "workspace");
    outside = join(base, "outside");
    mkdirSync(root);
    mkdirSync(outside);
    await Bun.write(join(outside, "secret"), "secret");
    files = createWorkspaceFiles(root);
  });
  afterAll(async () => {
    for (const folder of bases) await rm(folder, { recursive: true, force: true });
  });

  test("are read and written by relative, /workspace and host paths alike", async () => {
    await files.write("a/b/c", bytes("1"));
    for (const path of [
      "a/b/c",
      "./a//b/./c",
      "/workspace/a/b/c",
      join(root, "a/b/c"),
      "a/x/../b/c".replace("x/../", ""),
    ])
      expect(text(await files.read(path))).toBe("1");
    expect(text(await files.read("a/b/../b/c"))).toBe("1");
    await expect(files.read("/workspacex/a")).rejects.toMatchObject({ code: "outside_workspace" });
  });

  test("links that stay inside are followed, also absolute ones as the container sees them; loops end", async () => {
    await files.write("real/file", bytes("1"));
    symlinkSync("real", join(root, "relative"));
    symlinkSync("/workspace/real/file", join(root, "absolute"));
    symlinkSync("loop", join(root, "loop"));
    expect(text(await files.read("relative/file"))).toBe("1");
    await files.write("absolute", bytes("2"));
    expect(text(await files.read("real/file"))).toBe("2");
    expect(lstatSync(join(root, "absolute")).isSymbolicLink()).toBe(true);
    await expect(files.read("loop")).rejects.toMatchObject({ status: 400 });
  });

  test("nothing follows a link out: neither reads, writes, new folders, lists nor walks", async () => {
    symlinkSync(outside, join(root, "folder"));
    symlinkSync("../outside/secret", join(root, "file"));
    symlinkSync(join(outside, "new"), join(root, "dangling"));
    symlinkSync("folder", join(root, "twice"));
    for (const path of ["folder/secret", "file", "dangling", "twice/secret", "../outside/secret", "folder/made/here"]) {
      await expect(files.read(path)).rejects.toMatchObject({ status: 403, code: "outside_workspace" });
      await expect(files.write(path, bytes("x"))).rejects.toMatchObject({ code: "outside_workspace" });
      await expect(files.list(path)).rejects.toMatchObject({ code: "outside_workspace" });
      await expect(files.walk(path, { maxEntries: 10 })).rejects.toMatchObject({ code: "outside_workspace" });
    }
    expect(readdirSync(outside)).toEqual(["secret"]);
    const { entries } = await files.walk(".", { maxEntries: 100, ignored: true });
    expect(entries).toEqual(["dangling", "file", "folder", "twice"].map((path) => ({ path, kind: "link" })));
  });

  test("a folder swapped for a link while it is used never leads out", async () => {
    mkdirSync(join(root, "dir"));
    await Bun.write(join(root, "dir/secret"), "inside");
    // Another process, as an agent's would be. If there is no `dir`, the write under test makes it.
    const script = `const fs = require("node:fs");
      const attempt = (act) => { try { act(); } catch {} };
      const spin = () => { for (let at = 0; at < 20000; at++); };
      for (;;) {
        attempt(() => fs.renameSync("dir", "away"));
        attempt(() => fs.symlinkSync(${JSON.stringify(outside)}, "dir"));
        spin();
        attempt(() => fs.rmSync("dir", { recursive: true }));
        attempt(() => fs.renameSync("away", "dir"));
        spin();
      }`;
    const swapper = spawn(process.execPath, ["-e", script], { cwd: root, detached: true, stdio: "ignore" });
    const seen = new Map<string, number>();
    while (!lstatSync(join(root, "dir"), { throwIfNoEntry: false })?.isSymbolicLink()) await Bun.sleep(1);
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    const both = () => seen.has("inside") && seen.has("outside_workspace");
    for (let round = 0; round < 400 || !both(); round++) {
      // On a busy machine, the other process may not have run yet.
      if (round >= 400) await Bun.sleep(1);
      await files.read("dir/secret").then(
        (data) => count(text(data)),
        (error) => count(error.code),
      );
      await files.write("dir/mine", bytes("mine")).then(
        () => count("written"),
        (error) => count(error.code),
      );
      await files.walk(".", { maxEntries: 100 }).then(
        ({ entries }) =>
          entries.some(({ path }) => path === "dir/secret" && readdirSync(outside).length > 1) && count("leak"),
        () => {},
      );
    }
    const gone = once(swapper, "exit");
    process.kill(-(swapper.pid ?? 0), "SIGKILL");
    await gone;
    expect(seen.get("secret")).toBeUndefined();
    expect(seen.get("leak")).toBeUndefined();
    expect(seen.get("inside")).toBeGreaterThan(0);
    expect(seen.get("outside_workspace")).toBeGreaterThan(0);
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  test("pipes, sockets and folders are refused at once, in both directions", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    mkdirSync(join(root, "folder"));
    const server = Bun.listen({ unix: join(root, "socket"), socket: { data() {} } });
    try {
      for (const path of ["pipe", "socket", "folder", "."]) {
        await expect(files.read(path)).rejects.toMatchObject({ status: 400 });
        await expect(files.write(path, bytes("x"))).rejects.toMatchObject({ status: 400 });
      }
    } finally {
      server.stop(true);
    }
  });

  test("a write replaces in one step, keeps the mode, and leaves no draft behind", async () => {
    await files.write("run.sh", bytes("old"));
    chmodSync(join(root, "run.sh"), 0o755);
    await files.write("run.sh", bytes("new"));
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o755);
    await expect(files.write("run.sh/below", bytes("x"))).rejects.toMatchObject({
      status: 400,
      code: "not_a_folder",
    });
    await expect(files.write("x".repeat(300), bytes("x"))).rejects.toMatchObject({ status: 400 });
    expect(readdirSync(root)).toEqual(["run.sh"]);
  });

  test("a file over the limit, a path with NUL and a missing workspace are said as such", async () => {
    execFileSync("truncate", ["-s", String(LIMITS.toolWholeOutputBytes + 1), join(root, "big")]);
    await expect(files.read("big")).rejects.toMatchObject({ status: 413, code: "file_too_large" });
    await expect(files.read("a\0b")).rejects.toMatchObject({ status: 400 });
    rmSync(root, { recursive: true });
    await expect(files.read("x")).rejects.toMatchObject({ status: 503, code: "workspace_missing" });
  });

  test("no error tells the host's path", async () => {
    await files.write("f", bytes(""));
    for (const path of ["nowhere", "f/x", "x".repeat(300), "../x"]) {
      const error = await files.read(path).catch((caught) => caught);
      expect(String(error.detail)).not.toContain(base);
    }
  });

  test("any path either stays inside or is refused", async () => {
    symlinkSync("..", join(root, "up"));
    symlinkSync("/", join(root, "top"));
    mkdirSync(join(root, "d"));
    const part = fc.constantFrom("..", ".", "", "up", "top", "d", "outside", "secret", "workspace", "/");
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const data = await files.read(parts.join("/")).catch(() => undefined);
        expect(data).toBeUndefined();
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test.skipIf(lacks("root", isRoot))(
    "what a server that is root writes and takes over belongs to the sandbox's user",
    async () => {
      const owner = { uid: 10_001, gid: 10_001 };
      const owned = createWorkspaceFiles(root, owner);
      await owned.write("new/deep/file", bytes("x"));
      for (const path of ["new", "new/deep", "new/deep/file"]) expect(statSync(join(root, path)).uid).toBe(10_001);
      mkdirSync(join(root, "others/deep"), { recursive: true });
      symlinkSync(outside, join(root, "others/link"));
      symlinkSync(join(outside, "secret"), join(root, "others/deep/link"));
      await giveWorkspace(root, owner);
      for (const path of ["", "others", "others/deep", "others/link", "others/deep/link"])
        expect(lstatSync(join(root, path)).uid).toBe(10_001);
      expect([statSync(outside).uid, statSync(join(outside, "secret")).uid]).toEqual([0, 0]);
    },
  );
});

describe("rules of .gitignore files", () => {
  test("say what git says", async () => {
    const folder = await mkdtemp(join(tmpdir(), "skep-ignore-"));
    const rules = [
      "*.log",
      "!keep.log",
      "/top",
      "build/",
      "a/**/z",
      "doc/*.txt",
      "**/deep",
      "sp\\ ace",
      "#no",
      "\\#yes",
      "{x}",
      "[ab].c",
      "q?",
      "trail   ",
    ];
    const paths = [
      "x.log",
      "d/x.log",
      "keep.log",
      "d/keep.log",
      "top",
      "d/top",
      "a/z",
      "a/b/z",
      "a/b/c/z",
      "doc/a.txt",
      "doc/d/a.txt",
      "deep",
      "d/deep",
      "sp ace",
      "#no",
      "#yes",
      "{x}",
      "x",
      "a.c",
      "c.c",
      "q1",
      "q12",
      "trail",
      "build",
    ];
    try {
      execFileSync("git", ["init", "-q"], { cwd: folder });
      await Bun.write(join(folder, ".gitignore"), rules.join("\n"));
      const output = execFileSync("git", ["check-ignore", "--no-index", "--stdin", "-z"], {
        cwd: folder,
        input: paths.join("\0"),
      });
      const byGit = output.toString().split("\0").filter(Boolean);
      const ours = parseIgnoreRules(rules.join("\n"));
      expect(paths.filter((path) => ours(path, false))).toEqual(byGit);
      expect(ours("build", true)).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("cannot hold up the server, whatever an agent writes in them", () => {
    const hostile = Array.from({ length: 1_000 }, () => `${"*a".repeat(100)}b`).join("\n");
    const started = processorMs();
    const rules = parseIgnoreRules(hostile);
    for (let round = 0; round < 20; round++) rules("a".repeat(250), false);
    expectWork("20 names", processorMs() - started, 100);
  });
});
