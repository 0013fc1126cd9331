/** Adds many files to a run's branch, as an agent does that changes a whole repository. */
import { join } from "node:path";

/** Adds a commit with this many files to the run's branch. @param data the server's data folder. */
export function commitManyFiles(data: string, project: string, run: string, count: number): void {
  const repository = join(data, "projects", project, "git");
  const git = (args: string[], input = ""): string => {
    const { stdout, stderr, exitCode } = Bun.spawnSync(["git", "--git-dir", repository, ...args], {
      stdin: Buffer.from(input),
      stderr: "pipe",
    });
    if (exitCode !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
    return stdout.toString().trim();
  };
  const branch = `refs/heads/run/${run}`;
  const head = `commit ${branch}\ncommitter a <a@example.test> 1700000000 +0000\ndata 4\nmany\n`;
  const files = Array.from({ length: count }, (_, at) => {
    const body = `export const value${at} = ${at};\n`;
    const path = `packages/part${at % 20}/src/file${at}.ts`;
    return `M 100644 inline ${path}\ndata ${body.length}\n${body}\n`;
  });
  git(["fast-import", "--force", "--quiet"], `${head}from ${git(["rev-parse", branch])}\n${files.join("")}`);
}
