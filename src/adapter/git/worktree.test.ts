/** What other git commands see of a repository while a working copy of it is made, used and removed. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGit, type WorktreePlace } from "../git.ts";

const root = mkdtempSync(join(tmpdir(), "skep-worktree-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "" };
const git = createGit({ env });
const author = { name: "Agent", email: "agent@skep.localhost" };

function plain(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=U", "-c", "user.email=u@example.com"];
  const ran = Bun.spawnSync(["git", ...identity, ...args], { cwd, env: { ...env, GIT_CONFIG_NOSYSTEM: "1" } });
  if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr.toString()}`);
  return ran.stdout.toString().trim();
}

let home: string;
let upstream: string;
let place: WorktreePlace;
beforeEach(async () => {
  home = mkdtempSync(join(root, "home-"));
  upstream = join(home, "upstream");
  plain(home, "init", "-q", "-b", "main", upstream);
  writeFileSync(join(upstream, "a.txt"), "a\n");
  plain(upstream, "add", ".");
  plain(upstream, "commit", "-qm", "first");
  const repository = join(home, "git");
  const signal = new AbortController().signal;
  await git.clone({ source: upstream, transport: "file", repository, workspace: join(home, "workspace"), signal });
  place = { repository, name: "run_1", path: join(home, "runs/run_1") };
});

/** Git that fetches from upstream into the clone before each command, also before those that git itself starts. */
function fetchingGit() {
  const folder = join(home, "bin");
  const log = join(home, "fetches");
  mkdirSync(folder);
  const program = join(folder, "git");
  const real = Bun.which("git");
  const fetched = `fetch -q --prune -- '${upstream}' '+refs/heads/*:refs/remotes/origin/*'`;
  const looked = `env -i PATH="$PATH" ${real} --git-dir='${place.repository}' ${fetched}`;
  const script = `#!/bin/sh\n{ ${looked} && echo fetched; } >>'${log}' 2>&1\nexec ${real} "$@"\n`;
  writeFileSync(program, script, { mode: 0o755 });
  return {
    git: createGit({ program, env: { ...env, GIT_EXEC_PATH: folder } }),
    fetches: () => readFileSync(log, "utf8").trim().split("\n"),
  };
}

describe("a working copy", () => {
  test("is made, committed and removed without a moment in which a fetch beside it fails", async () => {
    const { git: beside, fetches } = fetchingGit();
    expect(await beside.addWorktree({ ...place, branch: "run/run_1", from: "HEAD" })).toBe(true);
    writeFileSync(join(place.path, "b.txt"), "b\n");
    expect((await beside.commitAll(place, { message: "b", author })).commit).not.toBeNull();
    await beside.removeWorktree(place);
    expect(await beside.addWorktree({ ...place, branch: "run/run_1", from: "HEAD" })).toBe(true);
    expect(readFileSync(join(place.path, "b.txt"), "utf8")).toBe("b\n");
    expect(fetches().length).toBeGreaterThan(6);
    expect(new Set(fetches())).toEqual(new Set(["fetched"]));
  });
});
