/** A git that was stopped, by a signal or a kill, leaves a repository that the next git can use. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGit } from "../git.ts";
import { createGitCommand } from "./command.ts";

const root = mkdtempSync(join(tmpdir(), "skep-leftovers-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "" };
const git = createGit({ env });

let home: string;
let repository: string;
let workspace: string;
beforeEach(async () => {
  home = mkdtempSync(join(root, "home-"));
  repository = join(home, "git");
  workspace = join(home, "workspace");
  await git.init({ repository, workspace, branch: "main" });
});

test("a git that is aborted while it holds a lock removes it", async () => {
  const { commit } = await git.head(repository);
  const lock = join(repository, "refs/heads/new.lock");
  const abort = new AbortController();
  const stdin = (async function* () {
    yield Buffer.from(`start\ncreate refs/heads/new ${commit}\nprepare\n`);
    await new Promise(() => {});
  })();
  // The lock's file exists a moment before git would remove it on a signal. Git holds it once it reports "prepare: ok".
  let said = "";
  let held = false;
  const onOutput = (chunk: Uint8Array) => {
    said += Buffer.from(chunk).toString();
    if (!said.includes("prepare: ok")) return;
    held = existsSync(lock);
    abort.abort(new Error("enough"));
  };
  const command = createGitCommand({ program: "git", env });
  const ended = command(["update-ref", "--stdin"], {
    cwd: repository,
    gitDir: repository,
    stdin,
    signal: abort.signal,
    onOutput,
  });
  await expect(ended).rejects.toThrow("enough");
  expect(held).toBe(true);
  expect(existsSync(lock)).toBe(false);
  await git.setBranch(repository, "new", commit!, null);
});

test("one that does not end when it is asked is killed with all that it started", async () => {
  const program = join(home, "deaf");
  const script = `#!/bin/sh\ntrap '' TERM\nsleep 600 &\necho "$!" >&2\nwait\n`;
  writeFileSync(program, script, { mode: 0o755 });
  const abort = new AbortController();
  let child = 0;
  const onLine = (line: string) => {
    child = Number(line);
    abort.abort(new Error("enough"));
  };
  const command = createGitCommand({ program, env });
  await expect(command(["fetch"], { cwd: home, signal: abort.signal, onLine })).rejects.toThrow("enough");
  expect(child).toBeGreaterThan(0);
  // Its parent has ended, too, so the process is a zombie until it is collected.
  const stat = Bun.file(`/proc/${child}/stat`);
  while (/\) [^ZX]/.test(await stat.text().catch(() => ""))) await Bun.sleep(5);
});

test("a repository that is gone is named, not a missing git", async () => {
  rmSync(home, { recursive: true });
  expect(await git.head(repository).catch((error) => error)).toMatchObject({ status: 404, code: "not_found" });
});

test("what a killed git left is removed, and nothing else: every command works again", async () => {
  const { commit } = await git.head(repository);
  const run = { repository, name: "run_1", path: join(home, "run_1") };
  await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
  const left = [
    "index.lock",
    "packed-refs.lock",
    "HEAD.lock",
    "refs/heads/main.lock",
    "refs/remotes/origin/deep/main.lock",
    "worktrees/run_1/index.lock",
    "objects/pack/tmp_pack_x1",
    "objects/pack/tmp_idx_x1",
  ];
  for (const path of left) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), "");
  }
  const before = readdirSync(repository, { recursive: true }) as string[];
  await git.removeLeftovers(repository);
  const now = new Set(readdirSync(repository, { recursive: true }) as string[]);
  expect(before.filter((path) => !now.has(path)).sort()).toEqual([...left].sort());
  await git.checkOut({ repository, workspace });
  await git.setBranch(repository, "main", commit!, commit);
  writeFileSync(join(run.path, "a"), "a");
  expect((await git.commitAll(run, { message: "a", author: { name: "A", email: "a@b" } })).commit).not.toBeNull();
  await git.removeLeftovers(join(home, "none"));
});
