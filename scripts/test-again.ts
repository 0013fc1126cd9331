/**
 * What a test that failed does when three copies of its file run at once, and whether it is excused.
 * Usage: bun scripts/test-again.ts FAILED UNSTEADY
 * FAILED: a file, one line `test file TAB promise` for each test that failed.
 * UNSTEADY: a file, one line `date TAB promise TAB cause that is being looked for` for each test that is known to fail
 * now and then. A line counts for 14 days; then the test is mended or its failure is one like any other.
 * A promise that names the seed of its random choices, as `(CRASH_SEED=123)`, is tried again with the same seed; in UNSTEADY
 * it stands for every seed, so write `(CRASH_SEED=)` or any number.
 * Prints what it found, and last a line `excused N`: how many of the failures are no failure of this run. An excuse
 * takes a line in UNSTEADY and a copy that passed.
 */
import { readFileSync } from "node:fs";

const COPIES = 3;
const DAYS = 14;
const DAY_MS = 86_400_000;
/** Lines shown of a copy in which a promise failed. */
const SHOWN_LINES = 60;

const lines = (path: string): string[][] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));

const SEED = /\(([A-Z][A-Z0-9_]{0,40}SEED|SEED)=(\d*)\)/g;
/** Environment that makes a copy choose as the failed test did. */
const seedsIn = (promises: readonly string[]): Record<string, string> =>
  Object.fromEntries(promises.flatMap((promise) => [...promise.matchAll(SEED)].map(([, name, seed]) => [name, seed])));
const ofAnySeed = (promise: string): string => promise.replace(SEED, "($1=)");

/** What is wrong with a line of UNSTEADY, if anything. */
function problemOf([date = "", promise = "", cause = ""]: string[]): string | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || promise === "" || cause.trim() === "")
    return "is not `date TAB promise TAB cause that is being looked for`";
  const age = Math.floor((Date.now() - Date.parse(date)) / DAY_MS);
  if (age < 0) return `is of ${date}, a day to come`;
  return age > DAYS ? `is of ${date}, over ${DAYS} days ago: mend the test` : undefined;
}

const [failedPath = "", unsteadyPath = ""] = process.argv.slice(2);
const known = new Map<string, string>();
for (const line of lines(unsteadyPath)) {
  const problem = problemOf(line);
  if (problem) console.log(`unsteady.txt: the line "${line.join(" ").slice(0, 120)}" ${problem}`);
  else known.set(ofAnySeed(line[1] ?? ""), `since ${line[0]}: ${line[2]}`);
}

const failed = Map.groupBy(lines(failedPath), ([file]) => file ?? "");
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
