/**
 * Commits a worktree that an agent may have filled with anything. Only the content of files and the text of links is
 * taken: no nested repository is entered (its settings could start programs), its files are taken as plain files; no
 * link is followed; no filter, hook or signature program runs.
 */
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitCommand, GitCommandOptions } from "./command.ts";

export interface Identity {
  name: string;
  email: string;
}

export interface CommitOptions {
  /** Of the worktree: the folder with its index and head. */
  gitDir: string;
  worktree: string;
  message: string;
  author: Identity;
  signal?: AbortSignal | undefined;
  /** Larger files are left out. */
  maxFileBytes: number;
}

export interface Committed {
  /** Hash; null when nothing changed. */
  commit: string | null;
  /** Left out, relative to the worktree: too large, or not to be read. */
  skipped: string[];
}

const MAX_NESTED_FILES = 50_000;
const GITLINK = "160000";
const split = (text: string): string[] => text.split("\0").filter((part) => part !== "");

export async function commitAll(git: GitCommand, options: CommitOptions): Promise<Committed> {
  const { gitDir, worktree, signal } = options;
  const at: GitCommandOptions = { cwd: worktree, gitDir, workTree: worktree, signal, timeoutMs: 600_000 };
  const before = await gitlinks(git, at);
  const found = await candidates(git, at);
  const nested = found.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
  const skipped = await tooLarge(worktree, found, options.maxFileBytes);
  const excluded = [...before, ...nested, ...skipped].map((path) => `:(top,exclude,literal)${path}`);
  const pathspec = `${[":/", ...excluded].join("\0")}\0`;
  // A file that cannot be read is left out rather than spoiling the commit.
  await git(["add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"], {
    ...at,
    stdin: pathspec,
    accept: [1],
  });
  for (const folder of nested) skipped.push(...(await addNested(git, at, folder, options.maxFileBytes)));
  const grown = (await gitlinks(git, at)).filter((path) => !before.includes(path));
  if (grown.length > 0) await updateIndex(git, at, ["--force-remove"], grown);
  return { commit: await commitIndex(git, at, options), skipped };
}

/** Changed and new paths; a nested repository shows as one path with a slash at its end. */
async function candidates(git: GitCommand, at: GitCommandOptions): Promise<string[]> {
  const args = ["ls-files", "-z", "--others", "--modified", "--exclude-standard"];
  return split((await git(args, at)).stdout);
}

async function gitlinks(git: GitCommand, at: GitCommandOptions): Promise<string[]> {
  const { stdout } = await git(["ls-files", "-z", "--stage"], at);
  return split(stdout)
    .filter((line) => line.startsWith(GITLINK))
    .map((line) => line.slice(line.indexOf("\t") + 1));
}

async function tooLarge(worktree: string, paths: readonly string[], maxBytes: number): Promise<string[]> {
  const large: string[] = [];
  for (const path of new Set(paths)) {
    if (path.endsWith("/")) continue;
    const size = await lstat(join(worktree, path)).then(
      (stat) => stat.size,
      () => 0,
    );
    if (size > maxBytes) large.push(path);
  }
  return large;
}

/** Takes the files of a repository inside the worktree as plain files. @returns what was left out. */
async function addNested(git: GitCommand, at: GitCommandOptions, folder: string, maxBytes: number): Promise<string[]> {
  const files = await plainFiles(at.cwd, folder);
  if (files.length === 0) return [];
  const ignored = new Set(
    split((await git(["check-ignore", "-z", "--stdin"], { ...at, stdin: nul(files), accept: [1] })).stdout),
  );
  const wanted = files.filter((file) => !ignored.has(file));
  const large = await tooLarge(at.cwd, wanted, maxBytes);
  await updateIndex(
    git,
    at,
    ["--add"],
    wanted.filter((file) => !large.includes(file)),
  );
  return large;
}

async function updateIndex(git: GitCommand, at: GitCommandOptions, flags: string[], paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  await git(["update-index", ...flags, "-z", "--stdin"], { ...at, stdin: nul(paths) });
}

const nul = (paths: readonly string[]): string => `${paths.join("\0")}\0`;

/** Files and links below `folder`, no link followed, every `.git` left out; sorted, bounded. */
async function plainFiles(root: string, folder: string): Promise<string[]> {
  const files: string[] = [];
  const waiting = [folder];
  while (waiting.length > 0 && files.length < MAX_NESTED_FILES) {
    const here = waiting.pop()!;
    const entries: Dirent[] = await readdir(join(root, here), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name.toLowerCase() === ".git") continue;
      const path = `${here}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
    }
  }
  return files.slice(0, MAX_NESTED_FILES).sort();
}

/** Makes a commit of the index on the worktree's branch, with plumbing alone. */
async function commitIndex(
  git: GitCommand,
  at: GitCommandOptions,
  { message, author }: CommitOptions,
): Promise<string | null> {
  const line = async (args: string[], options: Partial<GitCommandOptions> = {}) =>
    (await git(args, { ...at, ...options })).stdout.trim();
  const tree = await line(["write-tree"]);
  const parent = await line(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { accept: [1] });
  if (parent !== "" && tree === (await line(["rev-parse", "--verify", "HEAD^{tree}"]))) return null;
  const env = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  const parents = parent === "" ? [] : ["-p", parent];
  const commit = await line(["commit-tree", tree, ...parents, "-F", "-"], { stdin: `${message.trim()}\n`, env });
  await line(["update-ref", "-m", "skep", "HEAD", commit, parent === "" ? "0".repeat(commit.length) : parent]);
  return commit;
}
