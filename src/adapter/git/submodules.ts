/**
 * Submodules, without git's own commands for them. Those commands read settings of the untrusted repository, and write
 * into folders that a link may have replaced.
 * Here a submodule is a path, a commit and an address. Its commit is fetched into a repository of its own; its files
 * are checked out next to the working copy and then moved in.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Problem } from "../../core/errors.ts";
import { openFolder, removeFolder } from "../../working-copy/folder.ts";
import { isSafeName } from "../../working-copy/safe-name.ts";
import { withoutConversions } from "./attributes.ts";
import { eachField, type GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";
import { type Remote, remoteEnvironment } from "./remote.ts";
import { moduleBesideOf } from "./worktree.ts";

export interface Submodule {
  /** Path in the working copy. */
  path: string;
  /** Hash of the commit that the submodule is at. */
  commit: string;
  /** Address as `.gitmodules` has it: unchecked, and possibly relative. */
  url: string;
}

export interface CommitFetch extends Remote {
  /** Folder of the repository to make. It exists only once it is complete. */
  repository: string;
  commit: string;
  signal?: AbortSignal | undefined;
  timeoutMs: number;
}

interface PlacedCommit {
  repository: string;
  commit: string;
  /** Absolute path of the working copy. */
  copy: string;
  /** Folder in the working copy, which is empty or does not exist. */
  path: string;
  bounds: { files: number; bytes: number };
  signal?: AbortSignal | undefined;
}

/** Most bytes of `.gitmodules` settings that are read. */
const SETTINGS_BYTES = 64 * 1024;
const PLACE_MS = 300_000;

const toBareOptions = (repository: string) => ({ cwd: repository, gitDir: repository });

export async function readSubmodules(
  git: GitCommand,
  repository: string,
  commit: string,
  max: number,
): Promise<Submodule[]> {
  assertRef(commit);
  const args = ["config", `--blob=${commit}:.gitmodules`, "--null", "--get-regexp", "^submodule\\..*\\.(path|url)$"];
  const { stdout } = await git(args, { ...toBareOptions(repository), accept: [1, 128], cutAt: SETTINGS_BYTES });
  const named = new Map<string, { path?: string; url?: string }>();
  for (const setting of stdout.split("\0")) {
    const [, name, key, value] = /^submodule\.([^\n]*)\.(path|url)\n([^\n]+)$/.exec(setting) ?? [];
    if (name !== undefined && key !== undefined) named.set(name, { ...named.get(name), [key]: value });
  }
  const found: Submodule[] = [];
  for (const { path, url } of named.values()) {
    if (found.length >= max) break;
    if (path === undefined || url === undefined || !isUsablePath(path)) continue;
    const linked = await linkedCommit(git, repository, commit, path);
    if (linked !== null) found.push({ path, commit: linked, url });
  }
  return found;
}

const isUsablePath = (path: string): boolean =>
  path
    .split("/")
    .every(
      (name) => name !== "" && name !== "." && name !== ".." && isSafeName(Buffer.from(name).toString("latin1"), false),
    );

/**
 * Reads the submodule's commit from the tree. @returns null when the tree has no submodule at that path, whatever
 * `.gitmodules` says.
 */
async function linkedCommit(git: GitCommand, repository: string, commit: string, path: string): Promise<string | null> {
  const { stdout } = await git(["ls-tree", "-z", commit, "--", path], toBareOptions(repository));
  const [, hash, at] = /^160000 commit ([0-9a-f]{40,64})\t([^\0]*)\0$/.exec(stdout) ?? [];
  return hash !== undefined && at === path ? hash : null;
}

export async function fetchCommit(git: GitCommand, request: CommitFetch): Promise<void> {
  const { repository, commit, source, signal, timeoutMs } = request;
  if (existsSync(repository)) return;
  assertRef(commit);
  const made = `${repository}.new`;
  await rm(made, { recursive: true, force: true });
  await mkdir(dirname(made), { recursive: true });
  const format = commit.length === 64 ? ["--object-format=sha256"] : [];
  await git(["init", "--quiet", "--bare", "--template=", ...format, "--", made], { cwd: dirname(made), signal });
  const at = { ...toBareOptions(made), env: remoteEnvironment(request), signal, timeoutMs };
  const how = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
  try {
    const alone = await git([...how, "--depth=1", "--", source, commit], { ...at, accept: [1, 128] });
    // Some hosts do not serve a commit by its hash, so all branches and tags are fetched instead.
    if (alone.code !== 0)
      await git([...how, "--", source, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"], at);
    const known = await git(["cat-file", "-e", `${commit}^{commit}`], { ...toBareOptions(made), accept: [1, 128] });
    if (known.code !== 0)
      throw new Problem(502, "git_failed", `The commit ${commit.slice(0, 12)} is not in that repository.`);
    await withoutConversions(made);
    await rename(made, repository);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

export async function placeCommit(git: GitCommand, request: PlacedCommit): Promise<void> {
  const { repository, commit, copy, path, signal } = request;
  assertRef(commit);
  await assertBounds(git, request);
  const made = moduleBesideOf({ path: copy });
  const index = join(repository, "skep-index");
  await removeFolder(made);
  await rm(index, { force: true });
  await mkdir(made);
  try {
    const at = { cwd: made, gitDir: repository, workTree: made, signal, timeoutMs: PLACE_MS };
    await git(["read-tree", "--reset", "-u", commit], { ...at, env: { GIT_INDEX_FILE: index } });
    using parent = openFolder(dirname(copy));
    parent.rename(basename(made), `${basename(copy)}/${path}`);
  } finally {
    await removeFolder(made);
    await rm(index, { force: true });
  }
}

/** @throws Problem 413 `submodule_too_large`. */
async function assertBounds(git: GitCommand, { repository, commit, bounds, signal }: PlacedCommit): Promise<void> {
  let [files, bytes] = [0, 0];
  await eachField(git, ["ls-tree", "-r", "-l", "-z", commit], { ...toBareOptions(repository), signal }, (text) => {
    files++;
    bytes += Number(/^\d+ blob \S+ +(\d+)\t/.exec(text)?.[1] ?? 0);
  });
  if (files > bounds.files || bytes > bounds.bytes)
    throw new Problem(
      413,
      "submodule_too_large",
      `It has ${files} files of ${bytes} bytes; ${bounds.files} files of ${bounds.bytes} bytes are taken.`,
    );
}
