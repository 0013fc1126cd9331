/** Reads the git repository of a local folder. */

export const gitRoot = (folder: string): string | undefined => runGit(folder, "rev-parse", "--show-toplevel");
/** The URL that the repository was cloned from. */
export const gitOrigin = (root: string): string | undefined => runGit(root, "config", "--get", "remote.origin.url");

function runGit(folder: string, ...args: string[]): string | undefined {
  if (!Bun.which("git")) return undefined;
  const ran = Bun.spawnSync(["git", "-C", folder, ...args], { stderr: "ignore" });
  return ran.exitCode === 0 ? ran.stdout.toString().trim() || undefined : undefined;
}
