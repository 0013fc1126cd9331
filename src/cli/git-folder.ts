/** What commands need to know about the git repository of a folder of this machine. */

export const gitRoot = (folder: string): string | undefined => git(folder, "rev-parse", "--show-toplevel");
/** Address of the repository that it was cloned from. */
export const gitOrigin = (root: string): string | undefined => git(root, "config", "--get", "remote.origin.url");

function git(folder: string, ...args: string[]): string | undefined {
  if (!Bun.which("git")) return undefined;
  const ran = Bun.spawnSync(["git", "-C", folder, ...args], { stderr: "ignore" });
  return ran.exitCode === 0 ? ran.stdout.toString().trim() || undefined : undefined;
}
