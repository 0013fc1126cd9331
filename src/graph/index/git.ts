/**
 * Commands of git that the graph needs. Programs that the repository's configuration names are never run.
 *
 * These commands read only git's own folder. `working-copy/` reads the working tree, so that no link in the tree can
 * lead git outside of it.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin",
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
};
const TIMEOUT_MS = 30_000;
/** Switches off everything a repository's configuration could run: hooks, monitors, pagers, filters, external diffs. */
const SAFE = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.quotepath=false",
  "core.untrackedCache=false",
  "diff.ignoreSubmodules=all",
  "submodule.recurse=false",
  "safe.directory=*",
];

/** A working tree. It also names its repository if git must not look for one inside the tree. */
export interface GitPlace {
  /** Absolute path of the working tree, or of a folder in it. */
  root: string;
  /** Git's own folder for this tree. If absent, git finds it. */
  gitDir?: string | undefined;
}

/** The paths of a repository's parts. They are absolute. */
export interface Repository {
  gitDir: string;
  /** The top of the working tree. */
  top: string;
  /** Path of the root below `top`, without a trailing slash; "" is the top itself. */
  start: string;
  index: string;
  objects: string;
  /** The repository's own ignore rules, in the format of a .gitignore; the file may be missing. */
  exclude: string;
  hash: "sha1" | "sha256";
}

interface Asked {
  env?: Readonly<Record<string, string>>;
  stdin?: Blob;
}

/** Output of a git command; undefined when git fails or there is no repository. */
export async function runGit(place: GitPlace, args: readonly string[], asked?: Asked): Promise<string | undefined> {
  const bytes = await gitBytes(place, args, asked);
  return bytes && new TextDecoder().decode(bytes);
}

/** Like `runGit`, for output that is not all text. */
export async function gitBytes(
  { root, gitDir }: GitPlace,
  args: readonly string[],
  { env = {}, stdin }: Asked = {},
): Promise<Uint8Array | undefined> {
  const tree: Record<string, string> = gitDir === undefined ? {} : { GIT_DIR: gitDir, GIT_WORK_TREE: root };
  try {
    const child = Bun.spawn(["git", ...SAFE.flatMap((setting) => ["-c", setting]), "-C", root, ...args], {
      stdin: stdin ?? "ignore",
      stdout: "pipe",
      stderr: "ignore",
      env: { ...ENVIRONMENT, ...tree, ...env },
      timeout: TIMEOUT_MS,
    });
    const bytes = await new Response(child.stdout).bytes();
    return (await child.exited) === 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

const PLACES = ["--show-toplevel", "--show-prefix", "--absolute-git-dir", "--show-object-format"];
const PARTS = ["index", "objects", "info/exclude"];

/** Finds the repository that a place belongs to. @returns undefined outside of any working tree */
export async function repositoryOf(place: GitPlace): Promise<Repository | undefined> {
  const answer = await runGit(place, ["rev-parse", ...PLACES, ...PARTS.flatMap((part) => ["--git-path", part])]);
  const lines = answer?.split("\n").slice(0, -1) ?? [];
  // A path with a line break would be read as two paths. Such a repository is not used.
  if (lines.length !== PLACES.length + PARTS.length) return undefined;
  const [top, prefix, gitDir, hash, index, objects, exclude] = lines as [
    string,
    string,
    string,
    Repository["hash"],
    string,
    string,
    string,
  ];
  const resolvePath = (path: string) => resolve(place.root, path);
  const start = prefix.replace(/\/$/, "");
  // Git may report a top folder that does not exist. For a checkout on the server, the place itself names the top.
  if (!existsSync(top)) return undefined;
  return {
    gitDir,
    top,
    start,
    index: resolvePath(index),
    objects: resolvePath(objects),
    exclude: resolvePath(exclude),
    hash,
  };
}

/** The commit a folder is on; "" outside git or before the first commit. */
export async function headCommit(place: GitPlace): Promise<string> {
  return ((await runGit(place, ["rev-parse", "HEAD"])) ?? "").trim();
}
