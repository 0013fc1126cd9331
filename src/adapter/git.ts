/**
 * Runs git with argument vectors only. A project's repository folder is separate from its working copies, and every
 * command names both. So nothing inside a working copy is ever taken for a repository.
 */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { removeFolder } from "../working-copy/folder.ts";
import { giveRepository } from "./git/agent-repository.ts";
import { withoutConversions } from "./git/attributes.ts";
import { type ChangedPart, changedPaths, type Hunk, hunksOf, patchOf, type Wanted } from "./git/changes.ts";
import { createGitCommand, type GitCommand, type GitRunner } from "./git/command.ts";
import { type CommitOptions, type Committed, commitAll, type Identity } from "./git/commit.ts";
import { looseObjects, packAndPrune, removeRefs } from "./git/history.ts";
import { removeLeftovers } from "./git/leftovers.ts";
import { type LfsPointer, placeContents, readPointers } from "./git/lfs.ts";
import { fetchObjects } from "./git/lfs-client.ts";
import {
  type ConflictingFile,
  forgetMerge,
  identityOf,
  type MergeOutcome,
  type MergeRequest,
  mergeInto,
} from "./git/merge.ts";
import { assertBranch, assertRef } from "./git/names.ts";
import { fetchBranches, pushBranch, type Remote, remoteEnvironment } from "./git/remote.ts";
import { sourceFiles, writeArchive } from "./git/source.ts";
import { type CommitFetch, fetchCommit, placeCommit, readSubmodules, type Submodule } from "./git/submodules.ts";
import { filesIn } from "./git/tree.ts";
import { addWorktree, adminFolder, hasWorktree, removeWorktree, type WorktreePlace } from "./git/worktree.ts";

export type {
  ChangedPart,
  CommitFetch,
  Committed,
  ConflictingFile,
  Hunk,
  LfsPointer,
  MergeOutcome,
  MergeRequest,
  Remote,
  Submodule,
  Wanted,
  WorktreePlace,
};

interface CloneRequest extends Remote {
  /** Folder of the repository; must not exist. */
  repository: string;
  /** Folder of the working copy; must not exist. */
  workspace: string;
  branch?: string | undefined;
  signal: AbortSignal;
  onProgress?(line: string): void;
}

export interface Head {
  /** Null in a repository without a commit. */
  commit: string | null;
  branch: string | null;
}

export interface Branch {
  branch: string;
  commit: string;
}

export type Git = ReturnType<typeof createGit>;

const CLONE_TIMEOUT_MS = 30 * 60_000;
/** Most bytes that `fileAt` reads of a file. */
const NAMED_FILE_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 100 * 1024 * 1024;
const OWN: Identity = { name: "Skep", email: "skep@localhost" };

export function createGit({ program = "git", env }: Partial<Pick<GitRunner, "program">> & Pick<GitRunner, "env">) {
  const git = createGitCommand({ program, env });
  const withGit =
    <Rest extends unknown[], Result>(act: (git: GitCommand, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      act(git, ...rest);
  return {
    /** Git's version, e.g. `2.39.5`. @throws Problem 503 `git_missing`. */
    async version(): Promise<string> {
      const { stdout } = await git(["--version"], { cwd: "/" });
      return /(?<!\d)\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim();
    },
    /** Clones a remote. If it fails, both folders are removed. @throws Problem 502, 504. */
    clone: withGit(clone),
    /** Makes a repository with one empty commit on `branch`, checked out in `workspace`. */
    async init(place: Record<"repository" | "workspace" | "branch", string>): Promise<void> {
      const { repository, workspace, branch } = place;
      assertBranch(branch);
      await mkdir(workspace, { recursive: true });
      const args = ["init", "--quiet", "--template=", `--initial-branch=${branch}`, `--separate-git-dir=${repository}`];
      await git([...args, "--", workspace], { cwd: dirname(workspace) });
      await withoutConversions(repository);
      await ensureCommit(git, repository);
    },
    head: withGit(headOf),
    /** Writes the files of HEAD to the project's own folder, which no agent works in. */
    checkOut: withGit(checkOut),
    /** Fetches the remote's branches into `refs/remotes/origin/`. @throws Problem 502, 504. */
    fetch: withGit(fetchBranches),
    /** @throws Problem 409 `push_rejected`, `push_refused` with the host's words, `target_checked_out`; 502, 504. */
    push: withGit(pushBranch),
    /** Commit of a full reference (`refs/heads/main`) or a hash; null when there is none. */
    async commitOf(repository: string, ref: string): Promise<string | null> {
      assertRef(ref);
      const args = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
      return (await git(args, { ...toBareOptions(repository), accept: [1, 128] })).stdout.trim() || null;
    },
    /** The best common ancestor of two commits; null when there is none. */
    async mergeBase(repository: string, one: string, other: string): Promise<string | null> {
      for (const ref of [one, other]) assertRef(ref);
      return (
        (await git(["merge-base", one, other], { ...toBareOptions(repository), accept: [1] })).stdout.trim() || null
      );
    },
    /** Sets a branch to `to`. It must be at `from` now; if that is null, it must not exist yet. */
    async setBranch(repository: string, branch: string, to: string, from: string | null): Promise<void> {
      assertBranch(branch);
      assertRef(to);
      await git(["update-ref", `refs/heads/${branch}`, to, from ?? "0".repeat(to.length)], toBareOptions(repository));
    },
    /** Makes `branch` the repository's HEAD. */
    async setHead(repository: string, branch: string): Promise<void> {
      assertBranch(branch);
      await git(["symbolic-ref", "HEAD", `refs/heads/${branch}`], toBareOptions(repository));
    },
    /** Sets a mark: a reference below `refs/skep/`, where no remote and no branch has references. */
    async setMark(repository: string, mark: string, commit: string): Promise<void> {
      for (const ref of [mark, commit]) assertRef(ref);
      await git(["update-ref", `refs/skep/${mark}`, commit], toBareOptions(repository));
    },
    /** Commits of the marks below `refs/skep/<prefix>/`. */
    async marks(repository: string, prefix: string): Promise<string[]> {
      assertRef(prefix);
      const args = ["for-each-ref", "--format=%(objectname)", `refs/skep/${prefix}/`];
      return (await git(args, toBareOptions(repository))).stdout.split("\n").filter(Boolean);
    },
    /** Names of the branches that the remote had when it was fetched, at most `most`. */
    fetchedBranches: (repository: string, most: number): Promise<string[]> => fetchedBranches(git, repository, most),
    /** The first bytes of a file in a commit, as text; null when there is no such file. */
    async fileAt(repository: string, commit: string, path: string): Promise<string | null> {
      assertRef(commit);
      const options = { ...toBareOptions(repository), accept: [128], cutAt: NAMED_FILE_BYTES };
      const { code, stdout } = await git(["cat-file", "blob", `${commit}:${path}`], options);
      return code === 0 ? stdout : null;
    },
    /** Lists the regular files of a commit that the caller wants. */
    filesIn: withGit(filesIn),
    /** Lists the files of a commit. @throws Problem 413 `source_too_large` for more than `most`. */
    sourceFiles: withGit(sourceFiles),
    /** Writes all files of a commit to a tar. @throws Problem 413 `source_too_large`, 502, 504. */
    writeArchive: withGit(writeArchive),
    /** Branches below `refs/heads/<prefix>`. */
    branches: (repository: string, prefix: string): Promise<Branch[]> => branchesBelow(git, repository, prefix),
    /** Branches below `refs/heads/<prefix>` with commits that HEAD does not contain. */
    listUnmerged: (repository: string, prefix: string): Promise<Branch[]> =>
      branchesBelow(git, repository, prefix, "--no-merged=HEAD"),
    /** Merges a commit into a branch. @throws Problem 409 `branch_moved`. */
    merge: withGit(mergeInto),
    /** Removes the mark of a merge; the merge itself stays. */
    forgetMerge: withGit(forgetMerge),
    changedPaths: withGit(changedPaths),
    /** Unified diff that `git apply` accepts; cut after `maxBytes`. */
    patch: withGit(patchOf),
    hunks: withGit(hunksOf),
    addWorktree: withGit(addWorktree),
    /** Whether the working copy exists and is complete. */
    hasWorktree,
    /** The submodules of a commit in the order of its `.gitmodules`; `max` at most. */
    submodules: withGit(readSubmodules),
    /** Fetches one commit into a new repository. Does nothing if that exists. @throws Problem 502, 504. */
    fetchCommit: withGit(fetchCommit),
    /**
     * Writes a commit's files to a folder of a working copy that is empty or missing. @throws Problem 413, 502;
     * FileError when a link or files are in the way.
     */
    placeCommit: withGit(placeCommit),
    /** The Git LFS pointers in a commit. */
    lfsPointers: withGit(readPointers),
    /** @returns why objects are missing, by oid. @throws Problem 502 when the server refuses the whole request. */
    fetchLfs: fetchObjects,
    /** Replaces pointers by fetched content, in a worktree that no agent has used yet. */
    placeLfs: (
      place: WorktreePlace,
      pointers: readonly LfsPointer[],
      pathOf: (pointer: LfsPointer) => string | undefined,
    ): Promise<void> => placeContents({ copy: place.path, admin: adminFolder(place) }, pointers, pathOf),
    /** Gives a working copy its agent's repository. @returns whether it was made now. @throws Problem 502, 504. */
    giveRepository: withGit(giveRepository),
    removeWorktree,
    /**
     * Removes locks and partial files that a killed git left, and writes Skep's attributes again. Call it only while no
     * git runs in the repository.
     */
    async removeLeftovers(repository: string): Promise<void> {
      await removeLeftovers(repository);
      if (existsSync(repository)) await withoutConversions(repository);
    },
    /** Deletes a branch. @throws Problem 502 when the branch is not at `from`. */
    async removeBranch(repository: string, branch: string, from: string): Promise<void> {
      for (const ref of [branch, from]) assertRef(ref);
      await git(["update-ref", "-d", `refs/heads/${branch}`, from], toBareOptions(repository));
    },
    /** Deletes every reference that equals one of these or is below it, e.g. `refs/heads/run/ID`. */
    removeRefs: withGit(removeRefs),
    /** Packs the repository and removes unreachable objects. Call it only while nothing else writes to it. */
    packAndPrune: withGit(packAndPrune),
    /** Estimates the number of loose objects. */
    looseObjects,
    commitAll: (
      place: WorktreePlace,
      options: Omit<CommitOptions, "gitDir" | "worktree" | "maxFileBytes">,
    ): Promise<Committed> =>
      commitAll(git, {
        ...options,
        gitDir: adminFolder(place),
        worktree: place.path,
        maxFileBytes: MAX_FILE_BYTES,
      }),
  };
}

const toBareOptions = (repository: string) => ({ cwd: repository, gitDir: repository });

async function branchesBelow(
  git: GitCommand,
  repository: string,
  prefix: string,
  ...filter: string[]
): Promise<Branch[]> {
  assertRef(prefix);
  const args = ["for-each-ref", ...filter, "--format=%(objectname) %(refname:lstrip=2)", `refs/heads/${prefix}/`];
  const rows = (await git(args, toBareOptions(repository))).stdout.split("\n").filter(Boolean);
  return rows.map((row) => ({ commit: row.slice(0, row.indexOf(" ")), branch: row.slice(row.indexOf(" ") + 1) }));
}

async function fetchedBranches(git: GitCommand, repository: string, most: number): Promise<string[]> {
  const args = ["for-each-ref", `--count=${most + 1}`, "--format=%(refname:lstrip=3)", "refs/remotes/origin/"];
  const names = (await git(args, toBareOptions(repository))).stdout.split("\n");
  return names.filter((name) => name !== "" && name !== "HEAD").slice(0, most);
}

async function headOf(git: GitCommand, repository: string): Promise<Head> {
  const ask = async (args: string[]) =>
    (await git(args, { ...toBareOptions(repository), accept: [1, 128] })).stdout.trim();
  const [commit = "", ref = ""] = (await ask(["rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"])).split(
    "\n",
  );
  if (/^[0-9a-f]{40,}$/.test(commit))
    return { commit, branch: ref.replace(/^refs\/heads\//, "").replace(/^HEAD$/, "") || null };
  return { commit: null, branch: (await ask(["symbolic-ref", "--quiet", "--short", "HEAD"])) || null };
}

/** Adds an empty commit to the branch of a repository without commits. */
async function ensureCommit(git: GitCommand, repository: string): Promise<void> {
  if ((await headOf(git, repository)).commit !== null) return;
  const at = toBareOptions(repository);
  const tree = (await git(["mktree"], { ...at, stdin: "" })).stdout.trim();
  const env = identityOf(OWN);
  const commit = (await git(["commit-tree", tree, "-F", "-"], { ...at, env, stdin: "Start\n" })).stdout.trim();
  await git(["update-ref", "HEAD", commit], at);
}

/** Writes the files of HEAD to the project's own folder. */
async function checkOut(
  git: GitCommand,
  place: { repository: string; workspace: string; signal?: AbortSignal | undefined },
) {
  const { repository, workspace, signal } = place;
  const at = { cwd: workspace, gitDir: repository, workTree: workspace, signal, timeoutMs: CLONE_TIMEOUT_MS };
  await git(["reset", "--hard", "--quiet", "HEAD"], at);
}

async function clone(git: GitCommand, request: CloneRequest): Promise<void> {
  const { source, repository, workspace, branch, signal, onProgress } = request;
  const env = remoteEnvironment(request);
  if (branch !== undefined) assertBranch(branch);
  await mkdir(dirname(workspace), { recursive: true });
  const options = [
    "--progress",
    "--no-checkout",
    "--template=",
    "--no-recurse-submodules",
    "--no-local",
    "--origin=origin",
  ];
  const place = [`--separate-git-dir=${repository}`, ...(branch === undefined ? [] : [`--branch=${branch}`])];
  try {
    await git(["clone", ...options, ...place, "--", source, workspace], {
      cwd: dirname(workspace),
      signal,
      timeoutMs: CLONE_TIMEOUT_MS,
      ...(onProgress ? { onLine: onProgress } : {}),
      env,
    });
    await withoutConversions(repository);
    await ensureCommit(git, repository);
    await checkOut(git, { repository, workspace, signal });
  } catch (error) {
    await removeFolder(workspace);
    await rm(repository, { recursive: true, force: true });
    throw error;
  }
}
