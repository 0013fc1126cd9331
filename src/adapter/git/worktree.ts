/**
 * Working copies of runs. The repository's own folder is outside of everything that an agent can write. A worktree's
 * `.git` is never read, because it belongs to the agent (agent-repository.ts).
 * Removing a copy deletes only what Skep made.
 */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeFolder } from "../../working-copy/folder.ts";
import type { GitCommand } from "./command.ts";
import { assertBranch, assertName, assertRef } from "./names.ts";

export interface WorktreePlace {
  /** The project's repository folder (not a worktree's). */
  repository: string;
  /** Name of the worktree inside the repository: the run's id. */
  name: string;
  /** Absolute path of the working copy; its last part is `name`. */
  path: string;
}

interface NewWorktree extends WorktreePlace {
  /** Branch to work on; created at `from` when it does not exist. */
  branch: string;
  from: string;
  /** Called when the files are written, before the copy counts as complete. */
  complete?(): Promise<void>;
  signal?: AbortSignal | undefined;
}

/** The worktree's folder inside the repository, with its index and HEAD; an agent cannot reach it. */
export const adminFolder = ({ repository, name }: WorktreePlace): string => join(repository, "worktrees", name);
/**
 * Path where an agent's repository is made. It is on the same file system as the working copy, so that it can be moved
 * in.
 */
export const besideOf = ({ path }: WorktreePlace): string => `${path}.git`;
/** Path where a submodule's files are checked out, on the same file system for the same reason. */
export const moduleBesideOf = ({ path }: Pick<WorktreePlace, "path">): string => `${path}.module`;
/**
 * This file is written last and removed first. Git ignores a worktree without it, so other commands never see an
 * unfinished one. A worktree without it was never finished.
 */
const gitdirFile = (place: WorktreePlace): string => join(adminFolder(place), "gitdir");

export const hasWorktree = (place: WorktreePlace): boolean => existsSync(gitdirFile(place)) && existsSync(place.path);

/** Makes the worktree, or keeps an existing one as it is. @returns true when it was made. */
export async function addWorktree(
  git: GitCommand,
  { branch, from, complete, signal, ...place }: NewWorktree,
): Promise<boolean> {
  assertName(place.name);
  assertBranch(branch);
  assertRef(from);
  if (hasWorktree(place)) {
    await dropStaleLocks(place);
    return false;
  }
  await removeWorktree(place);
  const at = { cwd: place.repository, gitDir: place.repository, signal };
  const known = await git(["show-ref", "--verify", "--quiet", `refs/heads/${branch}`], { ...at, accept: [1] });
  if (known.code !== 0) await git(["update-ref", `refs/heads/${branch}`, `${from}^{commit}`, ""], at);
  await fill(git, place, branch, signal);
  await complete?.();
  await writeFile(gitdirFile(place), `${join(place.path, ".git")}\n`);
  return true;
}

/**
 * Makes the worktree without git's own command, which shows a working copy to other commands before it is complete. At
 * that moment its HEAD names no commit, and a command that checks all references, such as a fetch, fails.
 */
async function fill(git: GitCommand, place: WorktreePlace, branch: string, signal: AbortSignal | undefined) {
  const admin = adminFolder(place);
  const link = join(place.path, ".git");
  await mkdir(dirname(place.path), { recursive: true });
  await mkdir(place.path);
  await writeFile(link, `gitdir: ${admin}\n`, { flag: "wx" });
  await mkdir(admin, { recursive: true });
  await writeFile(join(admin, "commondir"), "../..\n");
  await writeFile(join(admin, "HEAD"), `ref: refs/heads/${branch}\n`);
  await writeFile(join(admin, "locked"), "");
  const at = { cwd: place.path, gitDir: admin, workTree: place.path, signal, timeoutMs: 600_000 };
  await git(["reset", "--hard", "--quiet", "HEAD"], at);
}

/**
 * Removes locks that a killed git left. That is safe because one process owns the data folder, and takes one step at a
 * time in a worktree.
 */
async function dropStaleLocks(place: WorktreePlace): Promise<void> {
  for (const name of ["index.lock", "HEAD.lock"]) await rm(join(adminFolder(place), name), { force: true });
}

/**
 * Deletes the working copy and the repository's data about it; the branch stays. Links are not followed. Idempotent.
 */
export async function removeWorktree(place: WorktreePlace): Promise<void> {
  assertName(place.name);
  await rm(gitdirFile(place), { force: true });
  await removeFolder(place.path);
  await removeFolder(besideOf(place));
  await removeFolder(moduleBesideOf(place));
  // The folder also holds the copy's code graph, which may be written at this moment: hence the retries.
  await rm(adminFolder(place), { recursive: true, force: true, maxRetries: 3 });
}
