/** Colors and changed words of code lines, without a browser. */
import { expect, test } from "bun:test";
import { colorLine, colorLines, type Piece } from "../../web/ui/code/color.ts";
import { languageOf } from "../../web/ui/code/languages.ts";
import { matchesOf } from "../../web/ui/code/matches.ts";
import { changedWords, type Range } from "../../web/ui/code/words.ts";

const load = async (path: string) => {
  const language = await languageOf(path)?.();
  if (!language) throw new Error(`${path} has no language`);
  return language;
};
const never = new AbortController().signal;
const colorPieces = async (path: string, ...lines: string[]) =>
  (await colorLines(await load(path), lines, never)).map((pieces, at) =>
    pieces.map(([from, to, color]) => [lines[at]!.slice(from, to), color]),
  );

test("words of a language have their color, and a comment goes on in the next line", async () => {
  expect(await colorPieces("a/b.ts", "const a = 'x'; /* one", "two */ return 1;")).toEqual([
    [
      ["const", "keyword"],
      ["a", "property"],
      ["'x'", "string"],
      ["/* one", "comment"],
    ],
    [
      ["two */", "comment"],
      ["return", "keyword"],
      ["1", "number"],
    ],
  ]);
});

test.each([
  ["a.py", "def f(): return 'x'"],
  ["a.go", 'func f() string { return "x" }'],
  ["a.rs", 'fn f() -> &str { "x" }'],
  ["A.java", 'class A { String s = "x"; }'],
  ["a.sql", "SELECT 'x' FROM t"],
  ["a.yml", "name: 'x' # note"],
  ["a.sh", "if true; then echo 'x'; fi"],
  ["a.css", "a { color: #fff; }"],
  ["a.html", "<p class='x'>t</p>"],
  ["docker/Dockerfile", "FROM scratch"],
  ["a.kt", 'fun f() = "x"'],
  ["a.rb", "def f; 'x'; end"],
  ["a.toml", "a = 'x'"],
])("%s is colored", async (path, line) => {
  expect((await colorPieces(path, line))[0]?.length).toBeGreaterThan(0);
});

test("a file in no known language has no colors", () => {
  expect(languageOf("LICENSE")).toBe(undefined);
  expect(languageOf("a.bin")).toBe(undefined);
});

/** Lines that a hostile file may contain. */
const HOSTILE = [
  "a".repeat(100_000),
  "/*".repeat(20_000),
  "'\\".repeat(20_000),
  "((((".repeat(10_000),
  "<".repeat(50_000),
  `${"1e".repeat(20_000)}!`,
  `"${"\\".repeat(50_001)}`,
  "\u202e\ud800\u0000".repeat(5_000),
  "${`".repeat(10_000),
];

test("hostile lines are colored in their beginning only, and every tokenizer comes to an end", async () => {
  for (const path of [
    "a.ts",
    "a.py",
    "a.cpp",
    "a.rb",
    "a.sh",
    "a.html",
    "a.scss",
    "a.sql",
    "a.yaml",
    "a.swift",
    "a.go",
  ]) {
    const language = await load(path);
    const state = language.startState?.(2) ?? {};
    for (const line of HOSTILE) {
      const pieces: Piece[] = colorLine(language, line, state);
      expect([path, pieces.length <= 500, (pieces.at(-1)?.[1] ?? 0) <= 1_000]).toEqual([path, true, true]);
    }
  }
});

test("a text of more lines than are colored has the rest plain, and an abort ends the work", async () => {
  const language = await load("a.ts");
  expect(
    await colorLines(
      language,
      Array.from({ length: 5_000 }, () => ""),
      never,
    ),
  ).toHaveLength(4_000);
  const stopped = AbortSignal.abort(new Error("gone"));
  const long = Array.from({ length: 4_000 }, (_, at) => `const a${at} = [${"1, ".repeat(200)}];`);
  expect(colorLines(language, long, stopped)).rejects.toThrow("gone");
});

const sliceRanges = (text: string, ranges: readonly Range[]) => ranges.map(([from, to]) => text.slice(from, to));

test("the words that differ between two lines are marked, and no others", () => {
  const [before, after] = ["  private prices: number[] = [];", "  private readonly prices: bigint[] = [];"];
  const words = changedWords(before, after)!;
  expect(sliceRanges(before, words.before)).toEqual(["number"]);
  expect(sliceRanges(after, words.after).map((word) => word.trim())).toEqual(["readonly", "bigint"]);
});

test("lines that have nothing in common, and very long ones, have no marks", () => {
  expect(changedWords("import { a } from 'b';", "return total * percent;")).toBe(null);
  expect(changedWords("x".repeat(2_000), "x".repeat(2_001))).toBe(null);
  expect(changedWords("", "")).toBe(null);
});

test("matches are equal elements of both, ascending; what is too long keeps its common beginning and end", () => {
  expect(matchesOf(["a", "b", "c", "d"], ["a", "x", "c", "d"])).toEqual([
    [0, 0],
    [2, 2],
    [3, 3],
  ]);
  const long = (middle: string) => ["a", ...Array.from({ length: 50 }, (_, at) => `${middle}${at}`), "z"];
  expect(matchesOf(long("x"), long("y"), 10)).toEqual([
    [0, 0],
    [51, 51],
  ]);
});
