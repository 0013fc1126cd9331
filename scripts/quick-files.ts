/**
 * Prints the test files of `scripts/test --quick`, one per line. These are all of `src/testing/architecture`, and those
 * beside the code that start no server, browser, container or other process, index no sources, and are not among the
 * slow ones in test-timings.json.
 */
import { readFileSync } from "node:fs";

/** What a test imports or calls to start something. Such tests belong to the full test run. */
const STARTS =
  /testing\/(server|metered-server|app|browser|engine-rig|docker-image|plain-git|command|mcp\/image|source-tree)\.ts|truth-score\.ts|adapter\/git\.ts|"\.\.?\/(app|server|fixture)\.ts"|Bun\.spawn|spawnSync|execFile|createGraphSession/;

const slow = readFileSync(new URL("test-timings.json", import.meta.url), "utf8");
const listed = Bun.spawnSync(["git", "ls-files", "src/*.test.ts", "src/*.test.tsx"]).stdout.toString();
for (const path of listed.split("\n").filter(Boolean)) {
  const isArchitecture = path.startsWith("src/testing/architecture/");
  const isBesideCode = !path.startsWith("src/testing/") && !slow.includes(`"${path}"`);
  if (isArchitecture || (isBesideCode && !STARTS.test(readFileSync(path, "utf8")))) console.log(`./${path}`);
}
