/** Merging by plumbing: what a crash between two steps leaves, what an abort leaves. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGit } from "../git.ts";

const root = mkdtempSync(join(tmpdir(), "skep-merge-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: root };
const author = { name: "Skep", email: "skep@localhost" };
const own = createGit({ env });
const repository = join(root, ".git");

function git(...args: string[]): string {
  const ran = Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", ...args], { cwd: root });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout.toString().trim();
}
function commit(path: string, content: string): string {
  writeFileSync(join(root, path), content);
  git("add", path);
  git("commit", "-qm", `change ${path}`);
  return git("rev-parse", "HEAD");
}
beforeAll(() => {
  git("init", "-q", "-b", "main");
  commit("a.txt", "one\n");
  git("checkout", "-q", "-b", "work");
  // The second changes the lines of the first: applied again, the first would not fit.
  commit("a.txt", "two\n");
  commit("a.txt", "three\n");
  git("checkout", "-q", "main");
  commit("b.txt", "b\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a merge", () => {
  test.each(["merge", "squash", "rebase"] as const)(
    "%s that was done before a crash is found by its mark, even when the branch has moved on; without it nothing is",
    async (strategy) => {
      git("branch", "-f", "taken", "main");
      const source = git("rev-parse", "work");
      const mark = `run_1/${source}/taken`;
      const request = { repository, strategy, source, into: "taken", message: "take it", author, mark };
      const done = await own.merge(request);
      const later = git("commit-tree", "-p", "taken", "-m", "later", "taken^{tree}");
      git("update-ref", "refs/heads/taken", later);
      expect(await own.merge(request)).toEqual(done);
      expect(git("rev-parse", "taken")).toBe(later);
      // A branch that was put back by hand is merged into again.
      git("update-ref", "refs/heads/taken", "main");
      expect((await own.merge(request)).conflicts).toBeUndefined();
      expect(git("show", "taken:a.txt")).toBe("three");
      await own.forgetMerge(repository, mark);
      expect(git("for-each-ref", "refs/skep")).toBe("");
    },
  );

  test("that is aborted moves nothing", async () => {
    const before = git("rev-parse", "main");
    const source = git("rev-parse", "work");
    const signal = AbortSignal.abort(new Error("enough"));
    const request = { repository, strategy: "merge", source, into: "main", message: "m", author, signal } as const;
    expect(own.merge(request)).rejects.toThrow("enough");
    expect(git("rev-parse", "main")).toBe(before);
  });

  test("of a rebase says how far it is", async () => {
    git("branch", "-f", "counted", "main");
    const steps: number[] = [];
    const source = git("rev-parse", "work");
    const request = { repository, strategy: "rebase", source, into: "counted", message: "", author } as const;
    await own.merge({ ...request, onStep: (percent) => steps.push(percent) });
    expect(steps).toEqual([0, 50]);
  });
});
