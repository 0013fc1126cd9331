/** The few questions the graph asks git, without running anything the repository's configuration could name. */

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin",
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
};
const TIMEOUT_MS = 30_000;
/** Nothing the checked folder configures may be run: no hooks, monitors, pagers, filters or external diffs. */
const SAFE = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.quotepath=false",
  "core.untrackedCache=false",
  "diff.ignoreSubmodules=all",
  "submodule.recurse=false",
  "safe.directory=*",
];

/** A working tree, and its repository where that must not be looked for inside the tree. */
export interface GitPlace {
  /** Absolute path of the working tree, or of a folder in it. */
  root: string;
  /** Git's own folder of this tree; found by git when absent. */
  gitDir?: string | undefined;
}

/** Output of a git command in a folder; undefined when git fails or there is no repository. */
export function git(place: GitPlace, args: readonly string[]): Promise<string | undefined> {
  return run(place, args, SAFE);
}

/**
 * The same for commands that read files' content, which filters of the repository's configuration could see.
 * @param index another index than the repository's, which git may write to
 */
export async function gitWithoutFilters(
  place: GitPlace,
  args: readonly string[],
  index?: string,
): Promise<string | undefined> {
  const names = (await git(place, ["config", "-z", "--name-only", "--get-regexp", "^filter\\."])) ?? "";
  const drivers = new Set(names.split("\0").flatMap((name) => /^(filter\..*)\.\w+$/s.exec(name)?.[1] ?? []));
  const off = [...drivers].flatMap((driver) => [`${driver}.clean=`, `${driver}.process=`, `${driver}.required=false`]);
  const own: Record<string, string> = index === undefined ? {} : { GIT_INDEX_FILE: index, GIT_OPTIONAL_LOCKS: "1" };
  return run(place, args, [...SAFE, ...off], own);
}

async function run(
  { root, gitDir }: GitPlace,
  args: readonly string[],
  settings: readonly string[],
  more: Record<string, string> = {},
): Promise<string | undefined> {
  const tree: Record<string, string> = gitDir === undefined ? {} : { GIT_DIR: gitDir, GIT_WORK_TREE: root };
  try {
    const child = Bun.spawn(["git", ...settings.flatMap((setting) => ["-c", setting]), "-C", root, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      env: { ...ENVIRONMENT, ...tree, ...more },
      timeout: TIMEOUT_MS,
    });
    const text = await new Response(child.stdout).text();
    return (await child.exited) === 0 ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The commit a folder is on; "" outside git or before the first commit. */
export async function headCommit(place: GitPlace): Promise<string> {
  return ((await git(place, ["rev-parse", "HEAD"])) ?? "").trim();
}
