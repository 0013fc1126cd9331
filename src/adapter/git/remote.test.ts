/** Fetching from a remote that changes meanwhile, or that lacks objects which its references name. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainGit } from "../../testing/plain-git.ts";
import { createGit } from "../git.ts";

const root = mkdtempSync(join(tmpdir(), "skep-remote-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "" };

let home: string;
let upstream: string;
let repository: string;
/** The newest commit of upstream, which the clone lacks, and the file of its object. */
let newest: string;
let held: string;
beforeEach(async () => {
  home = mkdtempSync(join(root, "home-"));
  upstream = join(home, "upstream");
  repository = join(home, "git");
  plainGit(home, "init", "-q", "-b", "main", upstream);
  plainGit(upstream, "commit", "-q", "--allow-empty", "-m", "first");
  const signal = new AbortController().signal;
  const place = { repository, workspace: join(home, "workspace") };
  await createGit({ env }).clone({ source: upstream, transport: "file", ...place, signal });
  plainGit(upstream, "commit", "-q", "--allow-empty", "-m", "second");
  newest = plainGit(upstream, "rev-parse", "HEAD");
  held = join(upstream, ".git/objects", newest.slice(0, 2), newest.slice(2));
});

/** Fetches with a git that runs a command before each run. @returns the fetch, and how often git was run. */
function startFetch(before: string) {
  const program = join(home, "git.sh");
  const calls = join(home, "calls");
  writeFileSync(program, `#!/bin/sh\necho "$1" >>'${calls}'\n${before}\nexec git "$@"\n`, { mode: 0o755 });
  const done = createGit({ program, env }).fetch({
    source: upstream,
    transport: "file",
    repository,
    timeoutMs: 60_000,
  });
  return { done, calls: () => readFileSync(calls, "utf8").trim().split("\n") };
}

test("a remote whose objects are elsewhere for a moment is read once more", async () => {
  const { done, calls } = startFetch(
    `if [ -e '${held}' ]; then mv '${held}' '${held}.away'; else mv '${held}.away' '${held}'; fi`,
  );
  await done;
  expect(calls()).toEqual(["fetch", "fetch"]);
  expect(plainGit(repository, `--git-dir=${repository}`, "rev-parse", "refs/remotes/origin/main")).toBe(newest);
});

test("a remote that lacks what it names is said so, with the remedy, and no branch moves", async () => {
  rmSync(held);
  const before = plainGit(repository, `--git-dir=${repository}`, "for-each-ref");
  const { done, calls } = startFetch("");
  const problem = await done.catch((error) => error);
  expect(problem).toMatchObject({ status: 502, code: "git_failed" });
  expect(problem.detail).toContain("git fsck");
  expect(problem.detail).not.toContain(root);
  expect(calls()).toEqual(["fetch", "fetch"]);
  expect(plainGit(repository, `--git-dir=${repository}`, "for-each-ref")).toBe(before);
});

test("a remote that is not there is asked once", async () => {
  rmSync(upstream, { recursive: true });
  const { done, calls } = startFetch("");
  expect(await done.catch((error) => error.code)).toBe("git_failed");
  expect(calls()).toEqual(["fetch"]);
});
