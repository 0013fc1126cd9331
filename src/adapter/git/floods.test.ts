/**
 * Repositories and remotes that answer with very much data: conflicts, a push's messages, long paths. Time and memory
 * stay bounded.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { plainGit } from "../../testing/plain-git.ts";
import { changedPaths } from "./changes.ts";
import { createGitCommand } from "./command.ts";
import { mergeInto } from "./merge.ts";
import { pushBranch } from "./remote.ts";

setDefaultTimeout(300_000);
const root = mkdtempSync(join(tmpdir(), "skep-floods-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "", HOME: root };
const git = createGitCommand({ program: "git", env });
const MIB = 1024 ** 2;

function newRepository(name: string): string {
  const folder = join(root, name);
  plainGit(root, "init", "-q", "-b", "main", folder);
  plainGit(folder, "commit", "-q", "--allow-empty", "-m", "first");
  return folder;
}

/** The most bytes by which this process grows during the work. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(most, process.memoryUsage.rss()) - before;
}

test.each([
  ["beginnings alone", "<<<<<<< \n"],
  ["beginnings and ends", "<<<<<<< \n>>>>>>> \n"],
  ["ends alone", ">>>>>>> \n"],
])("900 kB of conflict marks in a conflict, %s, take a moment", async (name, mark) => {
  const folder = newRepository(name.replaceAll(" ", "-"));
  for (const side of ["theirs", "ours"]) {
    plainGit(folder, "checkout", "-q", "-B", side, "main");
    writeFileSync(join(folder, "f"), `${side}\n${mark.repeat(900_000 / mark.length)}`);
    plainGit(folder, "add", "f");
    plainGit(folder, "commit", "-q", "-m", side);
  }
  const before = processorMs();
  const { conflicts } = await mergeInto(git, {
    repository: join(folder, ".git"),
    strategy: "merge",
    source: plainGit(folder, "rev-parse", "theirs"),
    into: "ours",
    message: "m",
    author: { name: "U", email: "u@example.com" },
  });
  expect(conflicts?.map(({ path }) => path)).toEqual(["f"]);
  expect(JSON.stringify(conflicts).length).toBeLessThan(100_000);
  // An earlier version took 29 s, because it searched for the end of each conflict up to the end of the file.
  expectWork(`a conflict with ${name}`, processorMs() - before, 200);
});

test("15 MB that a remote says to a push are not held, and what it says last is told", async () => {
  const folder = newRepository("pushed");
  const remote = join(root, "remote.git");
  plainGit(root, "init", "-q", "--bare", remote);
  const hook =
    "#!/bin/sh\nyes 'not like this, and that at some length' | head -c 15000000\necho the last word\nexit 1\n";
  writeFileSync(join(remote, "hooks/pre-receive"), hook, { mode: 0o755 });
  let problem: unknown;
  const grown = await growth(async () => {
    const work = { source: remote, transport: "file", repository: join(folder, ".git"), timeoutMs: 60_000 } as const;
    problem = await pushBranch(git, "main", work).catch((error: unknown) => error);
  });
  expect(problem).toMatchObject({ code: "push_refused", detail: expect.stringContaining("not like this") });
  expect(JSON.stringify(problem).length).toBeLessThan(5_000);
  expect(grown).toBeLessThan(100 * MIB);
});

test("a page of 14,000 files with long paths costs little memory, eight at once", async () => {
  const folder = newRepository("long-paths");
  const from = plainGit(folder, "rev-parse", "HEAD");
  const blob = plainGit(folder, "hash-object", "-w", "-t", "blob", "/dev/null");
  const deep = `${"d".repeat(240)}/`.repeat(14);
  const input = Array.from({ length: 14_000 }, (_, i) => `100644 ${blob}\t${deep}${i}`).join("\n");
  Bun.spawnSync(["git", "update-index", "--index-info"], { cwd: folder, env, stdin: Buffer.from(`${input}\n`) });
  plainGit(folder, "commit", "-q", "-m", "many");
  const range = { from, to: plainGit(folder, "rev-parse", "HEAD") };
  const page = () => changedPaths(git, join(folder, ".git"), range, { after: null, limit: 100 });
  await page();
  let pages: Awaited<ReturnType<typeof page>>[] = [];
  const grown = await growth(async () => {
    pages = await Promise.all(Array.from({ length: 8 }, page));
  });
  expect(pages.map(({ files, stats }) => [files.length, stats.files])).toEqual(Array(8).fill([100, 14_000]));
  const next = await changedPaths(git, join(folder, ".git"), range, {
    after: pages[0]?.files.at(-1)?.path ?? "",
    limit: 1,
  });
  expect(next.files[0]?.path).not.toBe(pages[0]?.files.at(-1)?.path);
  expect(grown).toBeLessThan(150 * MIB);
});
