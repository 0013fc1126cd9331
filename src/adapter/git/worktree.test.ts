/** The whole life of a run during a fetch: what each sees of the other's work at any time. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainGit } from "../../testing/plain-git.ts";
import { createGit, type Git, type WorktreePlace } from "../git.ts";

const root = mkdtempSync(join(tmpdir(), "skep-worktree-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "" };
const git = createGit({ env });
const author = { name: "Agent", email: "agent@skep.localhost" };

let home: string;
let upstream: string;
let place: WorktreePlace;
beforeEach(async () => {
  home = mkdtempSync(join(root, "home-"));
  upstream = join(home, "upstream");
  plainGit(home, "init", "-q", "-b", "main", upstream);
  writeFileSync(join(upstream, "a.txt"), "a\n");
  plainGit(upstream, "add", ".");
  plainGit(upstream, "commit", "-qm", "first");
  const repository = join(home, "git");
  const signal = new AbortController().signal;
  await git.clone({ source: upstream, transport: "file", repository, workspace: join(home, "workspace"), signal });
  place = { repository, name: "run_1", path: join(home, "runs/run_1") };
});

/**
 * A git that runs a shell command before each run, even of the git commands that git itself starts. `$git` is the real
 * one.
 */
function gitAfter(line: string) {
  const folder = mkdtempSync(join(home, "bin-"));
  const program = join(folder, "git");
  const script = `#!/bin/sh\ngit="env -i PATH=$PATH ${Bun.which("git")}"\n${line}\nexec ${Bun.which("git")} "$@"\n`;
  writeFileSync(program, script, { mode: 0o755 });
  return createGit({ program, env: { ...env, GIT_EXEC_PATH: folder } });
}

const run = { branch: "run/run_1", from: "HEAD" };
/** All steps of a run in the clone: it begins, commits, is merged and pushed, and is removed with its branch. */
async function lifeOfRun(by: Git) {
  const { repository } = place;
  expect(await by.addWorktree({ ...place, ...run })).toBe(true);
  await by.giveRepository({ ...place, ...run, depth: 5, base: null });
  writeFileSync(join(place.path, "b.txt"), "b\n");
  const { commit } = await by.commitAll(place, { message: "b", author });
  const request = { repository, source: commit!, into: "main", message: "m", author, mark: `run_1/${commit}/main` };
  expect((await by.merge({ ...request, strategy: "squash" })).conflicts).toBeUndefined();
  await by.forgetMerge(repository, request.mark);
  await by.push(run.branch, { source: upstream, transport: "file", repository, timeoutMs: 60_000 });
  await by.removeWorktree(place);
  await by.removeBranch(repository, run.branch, commit!);
}

describe("the life of a run", () => {
  test("has no moment in which a fetch beside it fails", async () => {
    const log = join(home, "fetches");
    const fetched = `fetch -q --prune -- '${upstream}' '+refs/heads/*:refs/remotes/origin/*'`;
    const beside = gitAfter(`{ $git --git-dir='${place.repository}' ${fetched} && echo fetched; } >>'${log}' 2>&1`);
    await lifeOfRun(beside);
    const fetches = readFileSync(log, "utf8").trim().split("\n");
    expect(fetches.length).toBeGreaterThan(12);
    expect(new Set(fetches)).toEqual(new Set(["fetched"]));
  });

  test("goes by while a fetch stands still before its last check, and the fetch succeeds", async () => {
    const [asked, go] = [join(home, "asked"), join(home, "go")];
    const still = gitAfter(
      `if [ "$1" = rev-list ]; then touch '${asked}'; until [ -e '${go}' ]; do sleep 0.02; done; fi`,
    );
    plainGit(upstream, "commit", "-q", "--allow-empty", "-m", "second");
    const newest = plainGit(upstream, "rev-parse", "HEAD");
    const { repository } = place;
    const fetching = still.fetch({ source: upstream, transport: "file", repository, timeoutMs: 60_000 });
    const early = fetching.then(() => Promise.reject(new Error("the fetch checked nothing")));
    early.catch(() => {});
    while (!existsSync(asked)) await Promise.race([early, Bun.sleep(5)]);
    await lifeOfRun(git);
    // The remote is repacked, too.
    plainGit(upstream, "gc", "-q", "--prune=now");
    writeFileSync(go, "");
    await fetching;
    expect(await git.commitOf(repository, "refs/remotes/origin/main")).toBe(newest);
  });
});
