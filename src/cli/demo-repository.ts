/** The repository that `skep demo` works on: small, with a program, a test and something left to do. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../core/errors.ts";

const FILES: Readonly<Record<string, string>> = {
  "README.md": `# Bell

Says good morning, good day or good evening.

    sh bell.sh [HOUR]

\`sh test.sh\` tries every hour of the day.
`,
  "bell.sh": `# Greets by the hour of the day: the first argument, else the clock.
hour=\${1:-$(date +%H)}
case $hour in 0?) hour=\${hour#0} ;; esac
# TODO: after 22 o'clock it should wish a good night.
if [ "$hour" -lt 11 ]; then echo "Good morning"
elif [ "$hour" -lt 18 ]; then echo "Good day"
else echo "Good evening"; fi
`,
  "test.sh": `# Every hour gets a greeting; three of them are looked at closely.
hour=0
while [ "$hour" -lt 24 ]; do
  sh bell.sh "$hour" | grep -q '^Good ' || { echo "no greeting at $hour"; exit 1; }
  hour=$((hour + 1))
done
[ "$(sh bell.sh 8)" = "Good morning" ] && [ "$(sh bell.sh 12)" = "Good day" ] && [ "$(sh bell.sh 20)" = "Good evening" ] || exit 1
echo "24 hours greeted"
`,
};

/** A fixed date, so that the same files always give the same commit id. */
const DATE = "2026-01-01T00:00:00Z";

/** Makes the repository in `folder`, which must not exist. @throws Problem 503 `git_failed` with git's own words. */
export function makeDemoRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "."],
    ["commit", "--quiet", "--no-gpg-sign", "--message=A bell that greets"],
  ])
    runGit(folder, args);
}

function runGit(folder: string, args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", ...args], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      ...Object.fromEntries(
        ["AUTHOR", "COMMITTER"].flatMap((who) => [
          [`GIT_${who}_NAME`, "Skep"],
          [`GIT_${who}_EMAIL`, "skep@localhost"],
          [`GIT_${who}_DATE`, DATE],
        ]),
      ),
    },
  });
  if (exitCode !== 0)
    throw new Problem(503, "git_failed", `git ${args[0]} failed: ${stderr.toString().trim().split("\n").at(-1)}`);
}
