/**
 * Checks that no regular expression of the product takes more than linear time, because strangers' texts reach most of
 * them. The checker is `recheck` (without network), which takes minutes for all expressions. A verdict depends only on
 * the expression's text. The safe ones are therefore listed by digest in regexps-safe.txt, and newer verdicts in
 * node_modules.
 *   bun scripts/lint-regexps.ts [FILE…]
 *   bun scripts/lint-regexps.ts --keep   also writes regexps-safe.txt, for the current expressions of the sources
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Glob } from "bun";
import { check } from "recheck";
import checker from "recheck/package.json" with { type: "json" };
import ts from "typescript-api";
import { EXCEPTIONS } from "./regexp-exceptions.ts";

const KEPT = "node_modules/.regexps.json";
const SAFE = "scripts/regexps-safe.txt";
/** The limits are counts instead of times, so that a busy machine does not change a verdict. */
const BOUNDS = { timeout: 300_000, attackTimeout: null, incubationTimeout: null };
const OURS = /\.test\.tsx?$|^src\/testing\/|\/fixtures\/|\.gen\.ts$|\.d\.ts$/;

const isKeeping = process.argv.includes("--keep");
const files = process.argv.slice(2).filter((argument) => argument !== "--keep");
const sources = files.length > 0 ? files : [...new Glob("src/**/*.{ts,tsx}").scanSync(".")];
/** Places of each expression, by its text. */
const places = new Map<string, string[]>();
const note = (text: string, at: string) => places.set(text, [...(places.get(text) ?? []), at]);

for (const file of sources.filter((path) => !OURS.test(path)).sort()) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    const at = `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) note(node.text, at);
    // Expressions built at run time: each has a line among the exceptions.
    else if (ts.isNewExpression(node) && node.expression.getText() === "RegExp") note(`new RegExp in ${file}`, at);
    // Patterns in schemas of requests.
    else if (ts.isPropertyAssignment(node) && node.name.getText() === "pattern" && ts.isStringLiteral(node.initializer))
      note(`/${node.initializer.text}/u`, at);
    ts.forEachChild(node, visit);
  };
  visit(source);
}

const digestOf = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 24);

/** Identifies the checker. Verdicts of another version, or with other limits, do not count. */
const JUDGE = `recheck ${checker.version} ${JSON.stringify(BOUNDS)}`;
const [judge, ...digests] = readIfThere(SAFE).trim().split("\n");
const safe = new Set(judge === JUDGE ? digests : []);

/** The verdict of each expression: "safe", or what is wrong. */
const known: Record<string, string> = {};
const kept: { judge?: string; safe?: string[] } = JSON.parse(readIfThere(KEPT) || "{}");
for (const digest of kept.judge === JUDGE ? (kept.safe ?? []) : []) safe.add(digest);
for (const text of places.keys()) if (safe.has(digestOf(text))) known[text] = "safe";

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

async function verdictOf(text: string): Promise<string> {
  if (text.startsWith("new RegExp")) return "put together at run time";
  const end = text.lastIndexOf("/");
  const found = await check(text.slice(1, end), text.slice(end + 1).replace("v", "u"), BOUNDS);
  if (found.status === "safe") return "safe";
  if (found.status === "unknown") return `cannot be judged (${found.error.kind})`;
  return `${found.complexity.summary}, e.g. for ${found.attack.pattern.slice(0, 200)}`;
}

const open = [...places.keys()].filter((text) => known[text] === undefined && EXCEPTIONS[text] === undefined);
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let text = open.pop(); text !== undefined; text = open.pop()) known[text] = await verdictOf(text);
  }),
);
const found = [...places.keys()].filter((text) => known[text] === "safe").map(digestOf);
// Write to another name first, because this file may be shared with other copies of the sources.
writeFileSync(`${KEPT}.${process.pid}`, JSON.stringify({ judge: JUDGE, safe: [...new Set([...safe, ...found])] }));
renameSync(`${KEPT}.${process.pid}`, KEPT);
if (isKeeping) writeFileSync(SAFE, `${[JUDGE, ...found.sort()].join("\n")}\n`);

const slow = [...places].filter(([text]) => EXCEPTIONS[text] === undefined && known[text] !== "safe");
for (const [text, at] of slow) console.log(`${at.join(" ")}: ${text}\n  ${known[text]}`);
const unused = files.length > 0 ? [] : Object.keys(EXCEPTIONS).filter((text) => !places.has(text));
for (const text of unused) console.log(`scripts/regexp-exceptions.ts: nothing is ${text} any more`);
console.log(`${places.size} regular expressions, ${slow.length + unused.length} problems`);
process.exit(slow.length + unused.length > 0 ? 1 : 0);
