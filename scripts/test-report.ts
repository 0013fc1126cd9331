/**
 * Reads the output of `bun test` on standard input and writes a report for people: one line for each test file when it
 * begins, then each failure with its file, test name and output, each skipped test with its reason, and the slowest
 * files. The reason is what the file printed in a line `skipped: …` (src/testing/parts.ts).
 * Usage: bun test … 2>&1 | bun scripts/test-report.ts TIMINGS FAILED MESSAGES [TOTAL_FILES]
 * TIMINGS: the file that `bun test --timings` wrote, with the milliseconds of each test file.
 * FAILED: a file to write, with one line `test file TAB test name` for each failed test.
 * MESSAGES: a file to which shortened failures are appended, for the end of the whole output.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

interface FileResult {
  passed: number;
  failed: number;
  skipped: string[];
  /** The reasons, each once. */
  reasons: Set<string>;
  /** Lines since the last result, which belong to the next result. */
  pending: string[];
}

interface Failure {
  file: string;
  promise: string;
  lines: string[];
}

/** How many lines of a failed test's output are kept. */
const FAILURE_LINES = 60;

/**
 * How many of these lines are repeated at the end of the whole output, and for how many failures. Others are listed by
 * name.
 */
const MESSAGE_LINES = 40;
const MESSAGES = 25;

/** How many files are listed as the slowest. */
const SLOWEST = 15;

const timings = process.argv[2] ?? "";
const failedList = process.argv[3];
const messages = process.argv[4];
const total = Number(process.argv[5] ?? 0);
const files = new Map<string, FileResult>();
const failures: Failure[] = [];
const closing: string[] = [];
let current: string | undefined;
let ended = false;

const fileOf = (path: string): FileResult => {
  let file = files.get(path);
  if (!file) {
    file = { passed: 0, failed: 0, skipped: [], reasons: new Set(), pending: [] };
    files.set(path, file);
    console.log(`${String(files.size).padStart(4)}${total ? `/${total}` : ""}  ${path}`);
  }
  return file;
};

function take(line: string): void {
  // Bun repeats the failures at the end of its output.
  if (/^\d+ tests? failed:$/.test(line)) ended = true;
  if (ended && line.startsWith("(fail)")) return;
  const [, path] = /^(\S+\.test\.tsx?):$/.exec(line) ?? [];
  if (path) {
    current = path;
    fileOf(path);
    return;
  }
  if (/^ *\d+ (pass|fail|skip|todo|error|errors)$/.test(line) || line.startsWith("Ran ")) {
    closing.push(line);
    current = undefined;
    return;
  }
  if (current === undefined || ended) {
    if (line.trim() !== "" && !line.startsWith("bun test ")) closing.push(line);
    return;
  }
  const file = fileOf(current);
  const [, reason] = /^skipped: (.+)$/.exec(line) ?? [];
  if (reason) {
    file.reasons.add(reason);
    return;
  }
  const [, verdict, promise] = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+ms\])?$/.exec(line) ?? [];
  if (!verdict) {
    file.pending.push(line);
    return;
  }
  if (verdict === "pass") file.passed++;
  else if (verdict === "fail") {
    file.failed++;
    failures.push({ file: current, promise: promise ?? "", lines: file.pending.slice(-FAILURE_LINES) });
    console.log(`FAIL  ${current}: ${promise}`);
  } else file.skipped.push(promise ?? "");
  file.pending = [];
}

let rest = "";
const decoder = new TextDecoder();
for await (const chunk of Bun.stdin.stream()) {
  const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) take(line);
}
if (rest !== "") take(rest);

if (failedList) writeFileSync(failedList, failures.map(({ file, promise }) => `${file}\t${promise}\n`).join(""));

const unfinished = [...files].filter(([, { pending }]) => pending.some((line) => /\berror\b/i.test(line)));
const outside = unfinished.map(([file, { pending }]) => ({ file, promise: "outside of a test", lines: pending }));
const wrong = [...outside, ...failures];
const describeFailure = ({ file, promise, lines }: Failure, most = FAILURE_LINES): string =>
  `\n──── ${file}\n     ${promise}\n${lines.slice(-most).join("\n")}`;
for (const one of wrong) console.log(describeFailure(one));
if (messages) {
  const shown = wrong.slice(0, MESSAGES).map((one) => describeFailure(one, MESSAGE_LINES));
  const others = wrong.slice(MESSAGES).map(({ file, promise }) => `──── ${file}: ${promise}`);
  appendFileSync(messages, [...shown, ...others].map((text) => `${text}\n`).join(""));
}
for (const line of closing) if (!/^ *\d+ \w+$/.test(line)) console.log(line);

const skipped = [...files].filter(([, file]) => file.skipped.length > 0);
if (skipped.length > 0) console.log("\nSkipped:");
for (const [path, file] of skipped) {
  console.log(`  ${path}: ${[...file.reasons].join("; ") || "it does not say why"}`);
  for (const promise of file.skipped) console.log(`    ${promise}`);
}

/** The slowest files of this run. The timings file also contains those of other runs. */
function listSlowest(): [string, number][] {
  if (!existsSync(timings)) return [];
  const { files: taken } = JSON.parse(readFileSync(timings, "utf8")) as { files: Record<string, number> };
  const ours = Object.entries(taken).filter(([file]) => files.has(file));
  return ours.sort(([, one], [, other]) => other - one).slice(0, SLOWEST);
}
if (files.size > SLOWEST) {
  console.log("\nSlowest:");
  for (const [file, ms] of listSlowest()) console.log(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
}
