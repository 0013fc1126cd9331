/**
 * Runs' working copies. The repository's own folder is outside of everything that an agent can write; a worktree's
 * `.git` is never read: it is the agent's (agent-repository.ts). Removing a copy deletes only what is ours.
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
  /** Names the worktree inside the repository: the run's id. */
  name: string;
  /** Absolute path of the working copy; its last part is `name`. */
  path: string;
}

interface NewWorktree extends WorktreePlace {
  /** Branch to work on: made from `from` when it does not exist. */
  branch: string;
  from: string;
  /** Called when the files are there, before the copy counts as whole. */
  complete?(): Promise<void>;
  signal?: AbortSignal | undefined;
}

/** Folder with the index and head of that worktree: inside the repository, out of an agent's reach. */
export const adminFolder = ({ repository, name }: WorktreePlace): string => join(repository, "worktrees", name);
/** Where an agent's repository is made: on the same file system as the working copy, so that it can be moved in. */
export const besideOf = ({ path }: WorktreePlace): string => `${path}.git`;
/** Where a submodule's files are made, for the same reason. */
export const moduleBesideOf = ({ path }: Pick<WorktreePlace, "path">): string => `${path}.module`;
/**
 * Written last and removed first: git passes over a working copy without it, so no other command ever sees one that is
 * half made. One without it was never finished.
 */
const gitdirFile = (place: WorktreePlace): string => join(adminFolder(place), "gitdir");

export const hasWorktree = (place: WorktreePlace): boolean => existsSync(gitdirFile(place)) && existsSync(place.path);

/** Makes the worktree, or finds it as it was left. @returns true when it was made. */
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
 * By hand, because git's own command shows a working copy to other commands before it is whole: its head names no commit
 * yet, and a command that checks all references at that moment, such as a fetch, fails.
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

/** Locks that a killed git left behind. One process owns the data folder and takes one step at a time in a worktree. */
async function dropStaleLocks(place: WorktreePlace): Promise<void> {
  for (const name of ["index.lock", "HEAD.lock"]) await rm(join(adminFolder(place), name), { force: true });
}

/** Deletes the working copy and what the repository knows of it; the branch stays. Links are not followed. Idempotent. */
export async function removeWorktree(place: WorktreePlace): Promise<void> {
  assertName(place.name);
  await rm(gitdirFile(place), { force: true });
  await removeFolder(place.path);
  await removeFolder(besideOf(place));
  await removeFolder(moduleBesideOf(place));
  // The code graph of the copy is in it, and may be written at this moment.
  await rm(adminFolder(place), { recursive: true, force: true, maxRetries: 3 });
}
