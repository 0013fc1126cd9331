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
/** Nothing the checked folder configures may be run: no hooks, monitors, pagers or external diffs. */
const SAFE = [
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.quotepath=false",
  "-c",
  "safe.directory=*",
];

/** Output of a git command in a folder; undefined when git fails or there is no repository. */
export async function git(root: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const run = Bun.spawn(["git", ...SAFE, "-C", root, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      env: ENVIRONMENT,
      timeout: TIMEOUT_MS,
    });
    const text = await new Response(run.stdout).text();
    return (await run.exited) === 0 ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The commit a folder is on; "" outside git or before the first commit. */
export async function headCommit(root: string): Promise<string> {
  return ((await git(root, ["rev-parse", "HEAD"])) ?? "").trim();
}
