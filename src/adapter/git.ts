/**
 * Git, by argument vectors only. A project's repository folder lies apart from its working copies, and every command
 * names both, so nothing that is found inside a working copy is ever taken for a repository.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Problem } from "../core/errors.ts";
import { createGitCommand, type GitCommand, type GitRunner, withSettings } from "./git/command.ts";
import { type CommitOptions, type Committed, commitAll, type Identity } from "./git/commit.ts";
import { assertRef } from "./git/names.ts";
import { addWorktree, adminFolder, type NewWorktree, removeWorktree, type WorktreePlace } from "./git/worktree.ts";

export type { Committed, WorktreePlace };
export type Transport = "https" | "http" | "ssh" | "git" | "file";

export interface CloneRequest {
  /** Address or absolute path; whoever calls has judged it. */
  source: string;
  /** The one transport that git may use. */
  transport: Transport;
  /** Host, port and the address to connect to, checked before; none for a path. */
  pin?: { host: string; port: number; address: string } | undefined;
  /** Value of an Authorization header; reaches git through its environment and no file. */
  authorization?: string | undefined;
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

export interface DiffStat {
  files: number;
  insertions: number;
  deletions: number;
}

export interface Git {
  /** e.g. `2.39.5`. @throws Problem 503 `git_missing`. */
  version(): Promise<string>;
  /** Leaves nothing behind when it fails. @throws Problem 502, 504. */
  clone(request: CloneRequest): Promise<void>;
  /** A new repository with one empty commit on `branch`, checked out in `workspace`. */
  init(place: { repository: string; workspace: string; branch: string }): Promise<void>;
  head(repository: string): Promise<Head>;
  addWorktree(worktree: NewWorktree): Promise<boolean>;
  removeWorktree(place: WorktreePlace): Promise<void>;
  commitAll(
    place: WorktreePlace,
    options: Omit<CommitOptions, "gitDir" | "worktree" | "maxFileBytes">,
  ): Promise<Committed>;
  /** Unified diff between two commits or branches; cut after `maxBytes`. */
  diff(repository: string, range: { from: string; to: string }, maxBytes?: number): Promise<string>;
  diffStat(repository: string, range: { from: string; to: string }): Promise<DiffStat>;
}

const CLONE_TIMEOUT_MS = 30 * 60_000;
const MAX_FILE_BYTES = 100 * 1024 * 1024;
const OWN: Identity = { name: "Skep", email: "skep@localhost" };

export function createGit({ program = "git", env }: Partial<Pick<GitRunner, "program">> & Pick<GitRunner, "env">): Git {
  const git = createGitCommand({ program, env });
  return {
    async version() {
      const { stdout } = await git(["--version"], { cwd: "/" });
      return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim();
    },
    clone: (request) => clone(git, request),
    async init({ repository, workspace, branch }) {
      assertRef(branch);
      await mkdir(workspace, { recursive: true });
      const args = ["init", "--quiet", "--template=", `--initial-branch=${branch}`, `--separate-git-dir=${repository}`];
      await git([...args, "--", workspace], { cwd: dirname(workspace) });
      await withoutConversions(repository);
      await ensureCommit(git, repository);
    },
    head: (repository) => headOf(git, repository),
    addWorktree: (worktree) => addWorktree(git, worktree),
    removeWorktree,
    commitAll: (place, options) =>
      commitAll(git, {
        ...options,
        gitDir: adminFolder(place),
        worktree: place.path,
        maxFileBytes: MAX_FILE_BYTES,
      }),
    async diff(repository, range, maxBytes = 1024 * 1024) {
      const { stdout } = await git([...diffArgs("--patch", "--no-color"), ...rangeArgs(range)], bare(repository));
      return stdout.length > maxBytes ? `${stdout.slice(0, maxBytes)}\n[cut]\n` : stdout;
    },
    async diffStat(repository, range) {
      const { stdout } = await git([...diffArgs("--numstat", "-z"), ...rangeArgs(range)], bare(repository));
      const rows = stdout.split("\0").filter((row) => /^[\d-]+\t[\d-]+\t/.test(row));
      const sum = (column: number) => rows.reduce((all, row) => all + (Number(row.split("\t")[column]) || 0), 0);
      return { files: rows.length, insertions: sum(0), deletions: sum(1) };
    },
  };
}

const bare = (repository: string) => ({ cwd: repository, gitDir: repository });
const diffArgs = (...shape: string[]) => [
  "diff-tree",
  "-r",
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
  "--ignore-submodules=all",
  ...shape,
];

function rangeArgs({ from, to }: { from: string; to: string }): string[] {
  assertRef(from);
  assertRef(to);
  return [`${from}^{commit}`, `${to}^{commit}`, "--"];
}

async function headOf(git: GitCommand, repository: string): Promise<Head> {
  const ask = async (args: string[]) => (await git(args, { ...bare(repository), accept: [1, 128] })).stdout.trim();
  const [commit, branch] = [
    await ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    await ask(["symbolic-ref", "--quiet", "--short", "HEAD"]),
  ];
  return { commit: commit || null, branch: branch || null };
}

/**
 * Files are taken byte for byte, whatever `.gitattributes` in a working copy asks for: this file beats it. Without it a
 * careless or hostile line (an unknown encoding) would make every commit fail.
 */
async function withoutConversions(repository: string): Promise<void> {
  await mkdir(join(repository, "info"), { recursive: true });
  await writeFile(join(repository, "info/attributes"), "* -text -eol -filter -ident !working-tree-encoding\n");
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

async function clone(git: GitCommand, request: CloneRequest): Promise<void> {
  const { source, transport, pin, authorization, repository, workspace, branch, signal, onProgress } = request;
  if (source.startsWith("-") || /[\x00-\x1f\x7f]/.test(source))
    throw new Problem(422, "bad_git_name", "This is no usable repository address.");
  if (branch !== undefined) assertRef(branch);
  const settings: [string, string][] = [];
  if (pin && (transport === "https" || transport === "http"))
    settings.push(["http.curloptResolve", `${pin.host}:${pin.port}:${bracketed(pin.address)}`]);
  if (authorization !== undefined) settings.push(["http.extraHeader", `Authorization: ${authorization}`]);
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
      env: {
        ...withSettings(settings),
        GIT_ALLOW_PROTOCOL: transport,
        GIT_PROTOCOL_FROM_USER: "0",
        ...(transport === "ssh" ? { GIT_SSH_COMMAND: sshCommand(pin), GIT_SSH_VARIANT: "ssh" } : {}),
      },
    });
    await withoutConversions(repository);
    await ensureCommit(git, repository);
    const at = { cwd: workspace, gitDir: repository, workTree: workspace, signal, timeoutMs: CLONE_TIMEOUT_MS };
    await git(["reset", "--hard", "--quiet", "HEAD"], at);
  } catch (error) {
    await rm(workspace, { recursive: true, force: true });
    await rm(repository, { recursive: true, force: true });
    throw error;
  }
}

const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);

/** ssh without questions, to the checked address, with the host key remembered under the host's name. */
function sshCommand(pin: CloneRequest["pin"]): string {
  const words = ["ssh", "-o BatchMode=yes", "-o StrictHostKeyChecking=accept-new", "-o ClearAllForwardings=yes"];
  if (pin) {
    if (!/^[a-z0-9.:-]+$/i.test(pin.host + pin.address)) throw new Problem(422, "bad_host", "This is no usable host.");
    words.push(`-o HostName=${pin.address}`, `-o HostKeyAlias=${pin.host}`, "-o ProxyCommand=none");
  }
  return words.join(" ");
}
