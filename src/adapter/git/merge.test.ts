/**
 * Merging by plumbing commands: the results, the conflicts shown, and what a crash, an abort or a moving branch leaves.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGit } from "../git.ts";
import { createGitCommand, type GitCommand } from "./command.ts";
import { type MergeRequest, mergeInto } from "./merge.ts";

const root = mkdtempSync(join(tmpdir(), "skep-merge-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: root };
const author = { name: "Skep", email: "skep@localhost" };
const own = createGit({ env });
const repository = join(root, ".git");

function git(...args: string[]): string {
  const settings = ["-c", "user.name=U", "-c", "user.email=u@example.com"];
  const ran = Bun.spawnSync(["git", "--literal-pathspecs", ...settings, ...args], { cwd: root });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout.toString().trim();
}
function writeText(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
function commit(path: string, content: string, ...options: string[]): string {
  writeText(path, content);
  git("add", path);
  git("commit", "-qm", `change ${path}`, ...options);
  return git("rev-parse", "HEAD");
}
/** A new branch at `from`, checked out. */
const branch = (name: string, from = "main") => git("checkout", "-qB", name, from);
/** A request to merge one branch into another. */
const into = (target: string, source: string, strategy: MergeRequest["strategy"]): MergeRequest => ({
  repository,
  strategy,
  into: target,
  message: "take it",
  author,
  source: git("rev-parse", source),
});
/** Merges. @returns the resulting commit, or the commit that the branch is already at. */
async function mergeOrThrow(
  request: MergeRequest,
  command = createGitCommand({ program: "git", env }),
): Promise<string> {
  const outcome = await mergeInto(command, request);
  if (outcome.conflicts) throw new Error(`In conflict: ${JSON.stringify(outcome)}`);
  return outcome.commit;
}
const subjects = (range: string): string[] => git("log", "--reverse", "--format=%s", range).split("\n");
/** Makes the branches `ours` and `theirs` from main, each with its own text of each file. */
function clash(files: Record<string, readonly [ours: string, theirs: string]>): void {
  for (const [at, name] of ["ours", "theirs"].entries()) {
    branch(name);
    for (const [path, texts] of Object.entries(files)) writeText(path, texts[at]!);
    git("add", "-A");
    git("commit", "-qm", name);
  }
  git("checkout", "-q", "main");
}
/** A git command with functions that are called before and after each run. */
function observeGit(before: (command: string) => void, after: (command: string) => void = () => {}): GitCommand {
  const plain = createGitCommand({ program: "git", env });
  return async (args, options) => {
    before(args[0]!);
    const result = await plain(args, options);
    after(args[0]!);
    return result;
  };
}
beforeAll(() => {
  git("init", "-q", "-b", "main");
  commit("a.txt", "one\n");
  git("checkout", "-q", "-b", "work");
  // The second commit changes the first one's lines, so the first would not apply again.
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
      // If a branch was reset by hand, the merge is done again.
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
    await expect(own.merge(request)).rejects.toThrow("enough");
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

  test.each(["merge", "squash", "rebase"] as const)(
    "%s is refused when the branch has moved meanwhile: what moved it stays, and no mark says that it was done",
    async (strategy) => {
      branch("moving");
      git("checkout", "-q", "main");
      const request = { ...into("moving", "work", strategy), mark: `run_2/${strategy}` };
      const later = git("commit-tree", "-p", "moving", "-m", "later", "moving^{tree}");
      const moves = observeGit((command) => {
        if (command === "update-ref") git("update-ref", "refs/heads/moving", later);
      });
      await expect(mergeInto(moves, request)).rejects.toMatchObject({ status: 409, code: "branch_moved" });
      expect([git("rev-parse", "moving"), git("for-each-ref", "refs/skep")]).toEqual([later, ""]);
      // A repeated request merges on top of the commit that came in between.
      expect([await mergeOrThrow(request), git("merge-base", "moving", later)]).toEqual([
        git("rev-parse", "moving"),
        later,
      ]);
      await own.forgetMerge(repository, request.mark);
    },
  );

  test("that is aborted when all but the move is done moves nothing; aborted during the move it is done", async () => {
    branch("halted");
    git("checkout", "-q", "main");
    const before = git("rev-parse", "halted");
    const early = new AbortController();
    const request = into("halted", "work", "squash");
    const stops = observeGit(
      () => {},
      (command) => command === "commit-tree" && early.abort(new Error("enough")),
    );
    await expect(mergeInto(stops, { ...request, signal: early.signal })).rejects.toThrow("enough");
    expect(git("rev-parse", "halted")).toBe(before);
    const late = new AbortController();
    const tooLate = observeGit((command) => command === "update-ref" && late.abort(new Error("too late")));
    const made = await mergeOrThrow({ ...request, signal: late.signal }, tooLate);
    expect([git("rev-parse", "halted"), git("rev-parse", "halted^")]).toEqual([made, before]);
  });

  test("of what is already there makes no commit and no mark", async () => {
    branch("ahead", "work");
    commit("c.txt", "c\n");
    git("checkout", "-q", "main");
    const before = git("rev-parse", "ahead");
    for (const strategy of ["merge", "squash", "rebase"] as const)
      expect(await mergeOrThrow({ ...into("ahead", "work", strategy), mark: `run_3/${strategy}` })).toBe(before);
    expect([git("rev-parse", "ahead"), git("for-each-ref", "refs/skep")]).toEqual([before, ""]);
  });

  test("of work that was squashed before joins the histories, once; squashed again it makes no commit", async () => {
    branch("squashed");
    git("checkout", "-q", "main");
    const once = await mergeOrThrow(into("squashed", "work", "squash"));
    expect(await mergeOrThrow(into("squashed", "work", "squash"))).toBe(once);
    const joined = await mergeOrThrow(into("squashed", "work", "merge"));
    expect(git("log", "-1", "--format=%P", joined)).toBe(`${once} ${git("rev-parse", "work")}`);
    expect(await mergeOrThrow(into("squashed", "work", "merge"))).toBe(joined);
  });
});

describe("a rebase", () => {
  test("keeps each commit's author, date and message; the committer is who merges", async () => {
    branch("dated");
    commit("d.txt", "d\n", "--author=Ann <ann@example.com>", "--date=1111111111 +0330", "-m", "Two lines\nof reasons.");
    branch("onto");
    const next = commit("e.txt", "e\n");
    git("checkout", "-q", "main");
    const tip = await mergeOrThrow(into("onto", "dated", "rebase"));
    expect(git("log", "-1", "--format=%P|%an|%ae|%ad|%cn|%ce|%B", "--date=raw", tip)).toBe(
      `${next}|Ann|ann@example.com|1111111111 +0330|Skep|skep@localhost|change d.txt\n\nTwo lines\nof reasons.`,
    );
  });

  test("leaves out merges, commits that change nothing, and changes that are there already", async () => {
    branch("mixed");
    commit("m.txt", "m\n");
    git("commit", "-q", "--allow-empty", "-m", "nothing");
    commit("same.txt", "same\n");
    git("merge", "-q", "--no-ff", "-m", "a merge", "work");
    branch("plain");
    commit("same.txt", "same\n");
    git("checkout", "-q", "main");
    const start = git("rev-parse", "plain");
    await own.merge(into("plain", "mixed", "rebase"));
    expect(subjects(`${start}..plain`).sort()).toEqual(["change a.txt", "change a.txt", "change m.txt"]);
    expect(git("rev-parse", "plain^{tree}")).toBe(git("rev-parse", "mixed^{tree}"));
    // A rebase of commits that change nothing creates no commit.
    branch("hollow");
    git("commit", "-q", "--allow-empty", "-m", "nothing");
    git("checkout", "-q", "main");
    const main = git("rev-parse", "main");
    expect(await mergeOrThrow(into("main", "hollow", "rebase"))).toBe(main);
  });

  test("that does not fit moves nothing and shows the commit's conflict", async () => {
    clash({ "r.txt": ["ours\n", "theirs\n"] });
    const before = git("rev-parse", "ours");
    const { conflicts } = await own.merge(into("ours", "theirs", "rebase"));
    expect(conflicts?.map(({ path, kind }) => [path, kind])).toEqual([["r.txt", "contents"]]);
    expect(git("rev-parse", "ours")).toBe(before);
  });
});

describe("a conflict", () => {
  const conflictOf = async () => {
    const outcome = await own.merge(into("ours", "theirs", "merge"));
    const { conflicts = [] } = outcome;
    const more = "more" in outcome ? outcome.more : 0;
    return { more, of: (path: string) => conflicts.find((one) => one.path === path), count: conflicts.length };
  };

  test("shows ten places of a file at most, each cut at 4,000 characters, and none of a file beyond the bytes that are read", async () => {
    const places = (word: string) =>
      Array.from({ length: 12 }, (_, at) => `${word} ${at}\n${"same\n".repeat(6)}`).join("");
    const big = (word: string) => `${word}\n${"same line\n".repeat(300_000)}`;
    branch("places-base");
    commit("places.txt", places("base"));
    commit("big-1.txt", big("base"));
    commit("big-2.txt", big("base"));
    commit("gone.txt", "base\n");
    git("branch", "-f", "main", "places-base");
    clash({
      "places.txt": [places("ours"), places("theirs")],
      "long.txt": ["a".repeat(5_000), "b".repeat(5_000)],
      "big-1.txt": [big("ours"), big("theirs")],
      "big-2.txt": [big("ours"), big("theirs")],
    });
    git("checkout", "-q", "ours");
    git("rm", "-q", "gone.txt");
    git("commit", "-qm", "remove it");
    git("checkout", "-q", "theirs");
    commit("gone.txt", "theirs\n");
    git("checkout", "-q", "main");
    const { of, more } = await conflictOf();
    const hunks = of("places.txt")!.hunks;
    expect(hunks).toHaveLength(10);
    expect(hunks[0]).toMatch(/^<{7} \S+\nours 0\n={7}\ntheirs 0\n>{7} \S+$/);
    expect(hunks[9]).toContain("theirs 9");
    expect(of("long.txt")!.hunks.map(({ length }) => length)).toEqual([4_000]);
    expect([of("big-1.txt")!.hunks.length, of("big-2.txt")!.hunks.length]).toEqual([1, 0]);
    expect(of("gone.txt")).toMatchObject({ kind: "modify/delete", hunks: [] });
    expect(more).toBe(0);
  });

  test("of a file whose name git could read as a pattern shows that file", async () => {
    // Git reads ":/a.txt" as "a.txt of the top folder" unless paths are taken literally.
    clash({ ":/a.txt": ["ours\n", "theirs\n"], "[ab].txt": ["ours\n", "theirs\n"] });
    const { of } = await conflictOf();
    for (const path of [":/a.txt", "[ab].txt"]) expect(of(path)?.hunks).toEqual([expect.stringContaining("\nours\n")]);
  });

  test("names a hundred files at most, and says how many more there are", async () => {
    const names = Array.from({ length: 103 }, (_, at) => `many/${String(at).padStart(3, "0")}.txt`);
    clash(Object.fromEntries(names.map((name) => [name, ["ours\n", "theirs\n"]])));
    expect(await conflictOf()).toMatchObject({ count: 100, more: 3 });
  });
});
