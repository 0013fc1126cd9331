/** Runs git for tests, with a fixed name and without this machine's settings. */

/** Runs git. @returns its output, trimmed. @throws its error output if it fails. */
export function plainGit(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=U", "-c", "user.email=u@example.com"];
  const env = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1" };
  const ran = Bun.spawnSync(["git", ...identity, ...args], { cwd, env });
  if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr.toString()}`);
  return ran.stdout.toString().trim();
}
