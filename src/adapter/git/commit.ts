/**
 * Commits a working copy that an agent may have filled with anything, and may be changing at this moment. Git never
 * enters it: files are read through descriptors that no link can divert (working-copy/), and git gets only their
 * content.
 * No nested repository is entered; no filter, hook or signature program runs.
 */

import { readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { type ChangedFile, type Comparison, compareWorkingCopy, type LeftOut } from "../../working-copy/compare.ts";
import { asText, openFolder } from "../../working-copy/folder.ts";
import { GitIndex } from "../../working-copy/index-file.ts";
import { hashOf } from "../../working-copy/index-format.ts";
import { type IndexEdits, writeIndex } from "../../working-copy/index-writer.ts";
import { type GitCommand, type GitCommandOptions, lineOf } from "./command.ts";
import { type ImportTarget, importedChanges } from "./import-stream.ts";
import { createStandIns } from "./lfs.ts";

export interface Identity {
  name: string;
  email: string;
}

export interface CommitOptions {
  /** The worktree's folder inside the repository, with its index and HEAD. */
  gitDir: string;
  worktree: string;
  message: string;
  author: Identity;
  signal?: AbortSignal | undefined;
  /** Files with more bytes are left out. */
  maxFileBytes: number;
}

export interface Committed {
  /** Hash of the commit; null when nothing changed. */
  commit: string | null;
  /** Files of the working copy that were not committed, with the reason; at most 1,000. */
  skipped: LeftOut[];
}

interface Head {
  commit: string;
  tree: string;
  /** Full reference name of the branch. */
  ref: string;
}

/** Commits all changes of a working copy. @throws Problem 502 `git_failed`, 413 `workspace_too_large`. */
export async function commitAll(git: GitCommand, options: CommitOptions): Promise<Committed> {
  const { gitDir, worktree, maxFileBytes, signal } = options;
  const at: GitCommandOptions = { cwd: gitDir, gitDir, signal, timeoutMs: 600_000 };
  const head = await headOf(git, at);
  const index = await indexOf(git, at, head);
  using top = openFolder(worktree, "latin1");
  const hash = hashOf(head.tree);
  const comparison = compareWorkingCopy({
    top,
    index,
    hash,
    maxFileBytes,
    signal,
    nested: "plain",
    untracked: "read",
    standInOf: createStandIns(gitDir),
  });
  const changed: ChangedFile[] = [];
  const commit = await importChanges(git, at, comparison, { ...options, ...head }, changed);
  const tree = commit === null ? head.tree : await lineOf(git, at, ["rev-parse", "--verify", `${commit}^{tree}`]);
  const { gone, refreshed } = comparison;
  if (commit !== null || refreshed.length > 0)
    await keepIndex(gitDir, index, { entries: [...changed, ...refreshed], gone, tree });
  const skipped = comparison.leftOut.map(({ path, why }) => ({ path: asText(path), why }));
  return { commit, skipped };
}

async function headOf(git: GitCommand, at: GitCommandOptions): Promise<Head> {
  const answer = await lineOf(git, at, ["rev-parse", "HEAD^{commit}", "HEAD^{tree}", "--symbolic-full-name", "HEAD"]);
  const [commit = "", tree = "", ref = "HEAD"] = answer.split("\n");
  return { commit, tree, ref };
}

/** Reads the index of HEAD's tree. When it must be rebuilt, the known statuses of files are kept. */
async function indexOf(git: GitCommand, at: GitCommandOptions, { tree }: Head): Promise<GitIndex> {
  const known = await readIndex(at.gitDir!, tree);
  if (known?.tree === tree) return known;
  if (!known) rmSync(join(at.gitDir!, "index"), { force: true });
  await git(["read-tree", ...(known ? ["-i", "-m"] : []), tree], at);
  const made = await readIndex(at.gitDir!, tree);
  if (!made) throw new Error("git wrote an index that cannot be read");
  return made;
}

async function readIndex(gitDir: string, tree: string): Promise<GitIndex | undefined> {
  const path = join(gitDir, "index");
  try {
    return await GitIndex.parse(readFileSync(path), hashOf(tree), statSync(path).mtimeMs / 1_000);
  } catch {
    return undefined;
  }
}

/**
 * Commits the changes with `git fast-import`. @returns the commit; null without changes. @param changed filled with
 * what was committed, without its content
 */
async function importChanges(
  git: GitCommand,
  at: GitCommandOptions,
  comparison: Comparison,
  target: ImportTarget,
  changed: ChangedFile[],
): Promise<string | null> {
  const stream = importedChanges(comparison, target, changed);
  const first = await stream.next();
  if (first.done) return null;
  const stdin = (async function* () {
    yield first.value;
    yield* stream;
  })();
  return (await git(["fast-import", "--quiet", "--done", "--date-format=now"], { ...at, stdin })).stdout.trim();
}

/**
 * Saves the index for the next commit to compare with. Without it, that commit only reads all files again, so a failure
 * here is not an error.
 */
async function keepIndex(gitDir: string, before: GitIndex, edits: IndexEdits): Promise<void> {
  const lock = join(gitDir, "index.lock");
  try {
    await writeIndex(lock, before, edits);
    renameSync(lock, join(gitDir, "index"));
  } catch (error) {
    // Another git holds the lock, so it must stay.
    if (codeOf(error) !== "EEXIST") rmSync(lock, { force: true });
  }
}
