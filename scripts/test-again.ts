/**
 * Runs each failed test again in three parallel copies of its file, reports how it behaves, and decides whether it is
 * excused.
 * Usage: bun scripts/test-again.ts FAILED UNSTEADY
 * FAILED: a file with one line `test file TAB test name` for each failed test.
 * UNSTEADY: a file with one line `date TAB test name TAB cause that is being looked for` for each test that is known to
 * fail sometimes. A line is valid for 14 days. By then the test must be mended, or its failures count like any other.
 * If a test name contains the seed of its random choices, such as `(CRASH_SEED=123)`, the copies use the same seed. In
 * UNSTEADY such a name stands for every seed, so write `(CRASH_SEED=)` or any number.
 * Prints what it found, and as its last line `excused N`: how many of the failures do not count for this run. A failure
 * is excused if the test has a line in UNSTEADY and passes in a copy.
 */
import { readFileSync } from "node:fs";

const COPIES = 3;
const DAYS = 14;
const DAY_MS = 86_400_000;
/** How many lines are shown of a copy in which a test failed. */
const SHOWN_LINES = 60;

const readRows = (path: string): string[][] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));

const SEED = /\(([A-Z][A-Z0-9_]{0,40}SEED|SEED)=(\d*)\)/g;
/** Environment that makes a copy use the same random seeds as the failed test. */
const seedsIn = (promises: readonly string[]): Record<string, string> =>
  Object.fromEntries(promises.flatMap((promise) => [...promise.matchAll(SEED)].map(([, name, seed]) => [name, seed])));
const ofAnySeed = (promise: string): string => promise.replace(SEED, "($1=)");

/** What is wrong with a line of UNSTEADY; undefined if nothing is. */
function problemOf([date = "", promise = "", cause = ""]: string[]): string | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || promise === "" || cause.trim() === "")
    return "is not `date TAB promise TAB cause that is being looked for`";
  const age = Math.floor((Date.now() - Date.parse(date)) / DAY_MS);
  if (age < 0) return `is of ${date}, a day to come`;
  return age > DAYS ? `is of ${date}, over ${DAYS} days ago: mend the test` : undefined;
}

const [failedPath = "", unsteadyPath = ""] = process.argv.slice(2);
const known = new Map<string, string>();
for (const line of readRows(unsteadyPath)) {
  const problem = problemOf(line);
  if (problem) console.log(`unsteady.txt: the line "${line.join(" ").slice(0, 120)}" ${problem}`);
  else known.set(ofAnySeed(line[1] ?? ""), `since ${line[0]}: ${line[2]}`);
}

const failed = Map.groupBy(readRows(failedPath), ([file]) => file ?? "");
let excused = 0;
for (const [file, tests] of failed) {
  console.log(`\nAgain, ${COPIES} copies at once: ${file}`);
  const seeds = seedsIn(tests.map(([, promise = ""]) => promise));
  const copies = await Promise.all(
    Array.from({ length: COPIES }, async () => {
      const copy = Bun.spawn([process.execPath, "test", "--timeout", "300000", `./${file}`], {
        stdout: "pipe",
        stderr: "pipe",
        env: { ...process.env, ...seeds },
      });
      const [out, errors] = await Promise.all([new Response(copy.stdout).text(), new Response(copy.stderr).text()]);
      return `${out}\n${errors}`;
    }),
  );
  for (const [, promise = ""] of tests) {
    const passed = copies.filter((copy) => copy.includes(`(pass) ${promise}`));
    const failing = copies.find((copy) => !passed.includes(copy));
    const reason = known.get(ofAnySeed(promise));
    const isExcused = reason !== undefined && passed.length > 0;
    if (isExcused) excused++;
    const name = passed.length === 0 ? "FAILS EACH TIME" : "UNSTEADY";
    console.log(`${name}: ${passed.length} of ${COPIES} copies passed: ${promise}`);
    console.log(isExcused ? `  excused ${reason}` : "  a failure: find out why, or list it in scripts/unsteady.txt");
    if (failing) console.log(failing.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n"));
  }
}
console.log(`excused ${excused}`);
