/** The git of a person, for tests: with a name, without the settings of this machine. */

/** Runs it and returns its output, trimmed. @throws what it says when it fails. */
export function plainGit(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=U", "-c", "user.email=u@example.com"];
  const env = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1" };
  const ran = Bun.spawnSync(["git", ...identity, ...args], { cwd, env });
  if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr.toString()}`);
  return ran.stdout.toString().trim();
}
