/**
 * The machine's clock may be set back, so the duration between two timestamps is computed in only one place, which
 * never returns less than 0. A machine may also be slow, so no test may fail because something took long.
 */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { filesOf, SRC, textOf } from "./source-files.ts";

test("timestamps are subtracted by `msBetween` alone; the dashboard's `duration` shows no negative ones either", () => {
  const product = filesOf("**/*.ts").filter(
    (file) => !/^(testing|web)\/|\/fixtures\/|\.gen\.ts$|^core\/clock\.ts$/.test(file),
  );
  const found = product.filter((file) => /Date\.parse\([^\n;]*\) - Date\.parse\(/.test(textOf(file)));
  expect(found).toEqual([]);
});

test("how many milliseconds an hour and a day have is written once, and once in the dashboard", () => {
  const places = new Set(["core/clock.ts", "web/ui/format.ts"]);
  const found = filesOf("**/*.{ts,tsx}").filter(
    (file) => !places.has(file) && /\b(?:3_600_000|86_400_000)\b|\bMINUTE_MS = 6/.test(textOf(file)),
  );
  expect(found).toEqual([]);
});

/** Test files and the modules that they are built of. */
const testFiles = [
  ...new Set([...new Glob("**/*.test.{ts,tsx}").scanSync(SRC), ...new Glob("testing/**/*.ts").scanSync(SRC)]),
].sort();

/** Waits that are shorter than the runner's limit, and why slow machines do not fail because of them. */
const SHORT_WAITS: Record<string, string> = {
  "testing/dashboard/administration.test.ts": "the click is tried again until what follows from it is there",
  "testing/dashboard/use.test.ts": "the keys are pressed again until what follows from them is there",
};

/** The lines of a file that match the pattern, with their numbers. */
const linesWith = (file: string, pattern: RegExp): string[] =>
  textOf(file)
    .split("\n")
    .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : []));

test("no test has an upper bound for a time that passed: `expectWork` bounds the processor time of work", () => {
  const elapsed =
    /(?:(?:performance|Date)\.now\(\) - [\w.]+|\w(?:Ms|_ms|Seconds)|\b(?:ms|seconds|elapsed))\)\.toBeLess/;
  expect(testFiles.flatMap((file) => linesWith(file, elapsed))).toEqual([]);
});

test("no test and no wait in one ends before the runner's limit of 300 s, but for those that are made again", () => {
  const short = testFiles.flatMap((file) => {
    const limits = linesWith(file, /setDefaultTimeout\(|^\s*\}, \d+_\d{3}\);$/);
    const waits = SHORT_WAITS[file] ? [] : linesWith(file, /\.\w+\([^;]*\btimeout: [\d_]+/);
    const ms = (line: string) => Number(/(?:\(|, |: )(\d[\d_]*)/.exec(line)?.[1]?.replaceAll("_", ""));
    return [...limits.filter((line) => ms(line) < 300_000), ...waits.filter((line) => ms(line) < 60_000)];
  });
  expect(short).toEqual([]);
});
