/**
 * Git, by argument vectors only. A project's repository folder is apart from its working copies, and every command
 * names both, so nothing that is found inside a working copy is ever taken for a repository.
 */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { removeFolder } from "../working-copy/folder.ts";
import { type AgentRepository, giveRepository } from "./git/agent-repository.ts";
import { withoutConversions } from "./git/attributes.ts";
import { type ChangedPart, changedPaths, type Hunk, hunksOf, patchOf, type Range, type Wanted } from "./git/changes.ts";
import { createGitCommand, type GitCommand, type GitRunner } from "./git/command.ts";
import { type CommitOptions, type Committed, commitAll, type Identity } from "./git/commit.ts";
import { looseObjects, packAndPrune, removeRefs } from "./git/history.ts";
import { removeLeftovers } from "./git/leftovers.ts";
import { type LfsPointer, placeContents, readPointers } from "./git/lfs.ts";
import { fetchObjects, type LfsFetch, type OpenLfs } from "./git/lfs-client.ts";
import { type ConflictingFile, forgetMerge, type MergeOutcome, type MergeRequest, mergeInto } from "./git/merge.ts";
import { assertBranch, assertRef } from "./git/names.ts";
import { fetchBranches, pushBranch, type Remote, type RemoteWork, remoteEnvironment } from "./git/remote.ts";
import { type Archive, type SourceFile, sourceFiles, writeArchive } from "./git/source.ts";
import {
  type CommitFetch,
  fetchCommit,
  type PlacedCommit,
  placeCommit,
  readSubmodules,
  type Submodule,
} from "./git/submodules.ts";
import { filesIn, type TreeFile } from "./git/tree.ts";
import {
  addWorktree,
  adminFolder,
  hasWorktree,
  type NewWorktree,
  removeWorktree,
  type WorktreePlace,
} from "./git/worktree.ts";

export type {
  ChangedPart,
  CommitFetch,
  Committed,
  ConflictingFile,
  Hunk,
  LfsPointer,
  MergeOutcome,
  MergeRequest,
  OpenLfs,
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

export interface Git {
  /** e.g. `2.39.5`. @throws Problem 503 `git_missing`. */
  version(): Promise<string>;
  /** Leaves nothing behind when it fails. @throws Problem 502, 504. */
  clone(request: CloneRequest): Promise<void>;
  /** A new repository with one empty commit on `branch`, checked out in `workspace`. */
  init(place: { repository: string; workspace: string; branch: string }): Promise<void>;
  head(repository: string): Promise<Head>;
  /** Puts the head's files into the project's own folder, which no agent works in. */
  checkOut(place: { repository: string; workspace: string; signal?: AbortSignal | undefined }): Promise<void>;
  /** Brings the remote's branches into `refs/remotes/origin/`. @throws Problem 502, 504. */
  fetch(work: RemoteWork): Promise<void>;
  /** @throws Problem 409 `push_rejected`, `push_refused` with the host's words, `target_checked_out`; 502, 504. */
  push(branch: string, work: RemoteWork): Promise<void>;
  /** Commit of a full reference (`refs/heads/main`) or a hash; null when there is none. */
  commitOf(repository: string, ref: string): Promise<string | null>;
  /** The best common ancestor; null without one. */
  mergeBase(repository: string, one: string, other: string): Promise<string | null>;
  /** Makes a branch, or moves it when it is at `from`. */
  setBranch(repository: string, branch: string, to: string, from: string | null): Promise<void>;
  /** Makes it the branch that the repository stands on. */
  setHead(repository: string, branch: string): Promise<void>;
  /** Writes a mark below `refs/skep/`, where no remote and no branch is. */
  setMark(repository: string, mark: string, commit: string): Promise<void>;
  /** Marks below `refs/skep/<prefix>/` with their commits. */
  marks(repository: string, prefix: string): Promise<string[]>;
  /** Text of a file in a commit, its first bytes; null where there is none. */
  fileAt(repository: string, commit: string, path: string): Promise<string | null>;
  /** The regular files of a commit that are wanted. */
  filesIn(
    repository: string,
    commit: string,
    options: { wanted(path: string): boolean; most: number },
  ): Promise<TreeFile[]>;
  /** @throws Problem 413 `source_too_large` for more than `most`. */
  sourceFiles(repository: string, commit: string, most: number): Promise<SourceFile[]>;
  /** All files of a commit as a tar. @throws Problem 413 `source_too_large`, 502, 504. */
  writeArchive(archive: Archive): Promise<void>;
  /** Branches below `refs/heads/<prefix>`. */
  branches(repository: string, prefix: string): Promise<Branch[]>;
  /** Those of them whose commits the head lacks. */
  unmerged(repository: string, prefix: string): Promise<Branch[]>;
  /** @throws Problem 409 `branch_moved`. */
  merge(request: MergeRequest): Promise<MergeOutcome>;
  /** Removes the mark of a merge; what it did stays. */
  forgetMerge(repository: string, mark: string): Promise<void>;
  changedPaths(repository: string, range: Range, wanted: Wanted): Promise<ChangedPart>;
  /** Unified diff that `git apply` takes; cut after `maxBytes`. */
  patch(
    repository: string,
    range: Range,
    options: { paths?: readonly string[]; maxBytes: number },
  ): Promise<{ patch: string; cut: boolean }>;
  hunks(repository: string, range: Range, path: string): Promise<{ hunks: Hunk[]; cut: boolean }>;
  addWorktree(worktree: NewWorktree): Promise<boolean>;
  /** Whether the working copy is there and whole. */
  hasWorktree(place: WorktreePlace): boolean;
  /** The submodules of a commit that its `.gitmodules` names, in that order; `max` at most. */
  submodules(repository: string, commit: string, max: number): Promise<Submodule[]>;
  /** Brings one commit of a remote into a repository that is made for it. Does nothing when it is there. @throws Problem 502, 504. */
  fetchCommit(request: CommitFetch): Promise<void>;
  /** Puts the files of a commit into an empty folder of a working copy. @throws Problem 413, 502; FileError where a link or files are in the way. */
  placeCommit(request: PlacedCommit): Promise<void>;
  /** The pointers of Git LFS in a commit. */
  lfsPointers(repository: string, commit: string): Promise<LfsPointer[]>;
  /** @returns why objects are missing, by oid. @throws Problem 502 when the server refuses as a whole. */
  fetchLfs(request: LfsFetch): Promise<Map<string, string>>;
  /** Puts fetched content in the place of pointers, in a worktree that no agent has yet. */
  placeLfs(
    place: WorktreePlace,
    pointers: readonly LfsPointer[],
    pathOf: (pointer: LfsPointer) => string | undefined,
  ): Promise<void>;
  /** The repository that an agent finds in its working copy. @returns whether it was made now. @throws Problem 502, 504. */
  giveRepository(request: AgentRepository): Promise<boolean>;
  removeWorktree(place: WorktreePlace): Promise<void>;
  /** Removes the locks and halves of files of a git that was killed, and writes our attributes again. Only while no git runs in the repository. */
  removeLeftovers(repository: string): Promise<void>;
  /** Deletes a branch that is at `from`. @throws Problem 502 when it is not. */
  removeBranch(repository: string, branch: string, from: string): Promise<void>;
  /** Deletes every reference at or below these, e.g. `refs/heads/run/ID`. */
  removeRefs(repository: string, prefixes: readonly string[]): Promise<void>;
  /** Packs the repository and removes the objects that nothing refers to. Only while nothing else writes to it. */
  packAndPrune(repository: string, signal?: AbortSignal): Promise<void>;
  /** About how many objects are files of their own. */
  looseObjects(repository: string): Promise<number>;
  commitAll(
    place: WorktreePlace,
    options: Omit<CommitOptions, "gitDir" | "worktree" | "maxFileBytes">,
  ): Promise<Committed>;
}

const CLONE_TIMEOUT_MS = 30 * 60_000;
/** Of a file that is only looked into. */
const NAMED_FILE_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 100 * 1024 * 1024;
const OWN: Identity = { name: "Skep", email: "skep@localhost" };

export function createGit({ program = "git", env }: Partial<Pick<GitRunner, "program">> & Pick<GitRunner, "env">): Git {
  const git = createGitCommand({ program, env });
  return {
    async version() {
      const { stdout } = await git(["--version"], { cwd: "/" });
      return /(?<!\d)\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim();
    },
    clone: (request) => clone(git, request),
    async init({ repository, workspace, branch }) {
      assertBranch(branch);
      await mkdir(workspace, { recursive: true });
      const args = ["init", "--quiet", "--template=", `--initial-branch=${branch}`, `--separate-git-dir=${repository}`];
      await git([...args, "--", workspace], { cwd: dirname(workspace) });
      await withoutConversions(repository);
      await ensureCommit(git, repository);
    },
    head: (repository) => headOf(git, repository),
    checkOut: (place) => checkOut(git, place),
    fetch: (work) => fetchBranches(git, work),
    push: (branch, work) => pushBranch(git, branch, work),
    async commitOf(repository, ref) {
      assertRef(ref);
      const args = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
      return (await git(args, { ...bare(repository), accept: [1, 128] })).stdout.trim() || null;
    },
    async mergeBase(repository, one, other) {
      for (const ref of [one, other]) assertRef(ref);
      return (await git(["merge-base", one, other], { ...bare(repository), accept: [1] })).stdout.trim() || null;
    },
    async setBranch(repository, branch, to, from) {
      assertBranch(branch);
      assertRef(to);
      await git(["update-ref", `refs/heads/${branch}`, to, from ?? "0".repeat(to.length)], bare(repository));
    },
    async setHead(repository, branch) {
      assertBranch(branch);
      await git(["symbolic-ref", "HEAD", `refs/heads/${branch}`], bare(repository));
    },
    async setMark(repository, mark, commit) {
      for (const ref of [mark, commit]) assertRef(ref);
      await git(["update-ref", `refs/skep/${mark}`, commit], bare(repository));
    },
    async marks(repository, prefix) {
      assertRef(prefix);
      const args = ["for-each-ref", "--format=%(objectname)", `refs/skep/${prefix}/`];
      return (await git(args, bare(repository))).stdout.split("\n").filter(Boolean);
    },
    async fileAt(repository, commit, path) {
      assertRef(commit);
      const options = { ...bare(repository), accept: [128], cutAt: NAMED_FILE_BYTES };
      const { code, stdout } = await git(["cat-file", "blob", `${commit}:${path}`], options);
      return code === 0 ? stdout : null;
    },
    filesIn: (repository, commit, options) => filesIn(git, repository, commit, options),
    sourceFiles: (repository, commit, most) => sourceFiles(git, repository, commit, most),
    writeArchive: (archive) => writeArchive(git, archive),
    branches: (repository, prefix) => branchesBelow(git, repository, prefix),
    unmerged: (repository, prefix) => branchesBelow(git, repository, prefix, "--no-merged=HEAD"),
    merge: (request) => mergeInto(git, request),
    forgetMerge: (repository, mark) => forgetMerge(git, repository, mark),
    changedPaths: (repository, range, wanted) => changedPaths(git, repository, range, wanted),
    patch: (repository, range, options) => patchOf(git, repository, range, options),
    hunks: (repository, range, path) => hunksOf(git, repository, range, path),
    addWorktree: (worktree) => addWorktree(git, worktree),
    hasWorktree,
    submodules: (repository, commit, max) => readSubmodules(git, repository, commit, max),
    fetchCommit: (request) => fetchCommit(git, request),
    placeCommit: (request) => placeCommit(git, request),
    lfsPointers: (repository, commit) => readPointers(git, repository, commit),
    fetchLfs: fetchObjects,
    placeLfs: (place, pointers, pathOf) =>
      placeContents({ copy: place.path, admin: adminFolder(place) }, pointers, pathOf),
    giveRepository: (request) => giveRepository(git, request),
    removeWorktree,
    async removeLeftovers(repository) {
      await removeLeftovers(repository);
      if (existsSync(repository)) await withoutConversions(repository);
    },
    async removeBranch(repository, branch, from) {
      for (const ref of [branch, from]) assertRef(ref);
      await git(["update-ref", "-d", `refs/heads/${branch}`, from], bare(repository));
    },
    removeRefs: (repository, prefixes) => removeRefs(git, repository, prefixes),
    packAndPrune: (repository, signal) => packAndPrune(git, repository, signal),
    looseObjects,
    commitAll: (place, options) =>
      commitAll(git, {
        ...options,
        gitDir: adminFolder(place),
        worktree: place.path,
        maxFileBytes: MAX_FILE_BYTES,
      }),
  };
}

const bare = (repository: string) => ({ cwd: repository, gitDir: repository });

async function branchesBelow(
  git: GitCommand,
  repository: string,
  prefix: string,
  ...filter: string[]
): Promise<Branch[]> {
  assertRef(prefix);
  const args = ["for-each-ref", ...filter, "--format=%(objectname) %(refname:lstrip=2)", `refs/heads/${prefix}/`];
  const rows = (await git(args, bare(repository))).stdout.split("\n").filter(Boolean);
  return rows.map((row) => ({ commit: row.slice(0, row.indexOf(" ")), branch: row.slice(row.indexOf(" ") + 1) }));
}

async function headOf(git: GitCommand, repository: string): Promise<Head> {
  const ask = async (args: string[]) => (await git(args, { ...bare(repository), accept: [1, 128] })).stdout.trim();
  const [commit = "", ref = ""] = (await ask(["rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"])).split(
    "\n",
  );
  if (/^[0-9a-f]{40,}$/.test(commit))
    return { commit, branch: ref.replace(/^refs\/heads\//, "").replace(/^HEAD$/, "") || null };
  return { commit: null, branch: (await ask(["symbolic-ref", "--quiet", "--short", "HEAD"])) || null };
}

/** Puts an empty commit on the branch of a repository that has none. */
async function ensureCommit(git: GitCommand, repository: string): Promise<void> {
  if ((await headOf(git, repository)).commit !== null) return;
  const at = bare(repository);
  const tree = (await git(["mktree"], { ...at, stdin: "" })).stdout.trim();
  const env = {
    GIT_AUTHOR_NAME: OWN.name,
    GIT_AUTHOR_EMAIL: OWN.email,
    GIT_COMMITTER_NAME: OWN.name,
    GIT_COMMITTER_EMAIL: OWN.email,
  };
  const commit = (await git(["commit-tree", tree, "-F", "-"], { ...at, env, stdin: "Start\n" })).stdout.trim();
  await git(["update-ref", "HEAD", commit], at);
}

/** The files of the head, in the project's own folder. */
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
