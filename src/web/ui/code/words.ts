/** Which words of a line were changed, in a line and the one that took its place. */
import { matchesOf } from "./matches.ts";

/** From, to: characters of the line. */
export type Range = readonly [from: number, to: number];

/** Longer lines are marked whole. */
const LINE_CHARACTERS = 1_000;
const MOST_WORDS = 300;
/** Share of the longer line that must have stayed: else the lines have nothing to do with each other. */
const ALIKE = 0.4;

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** @returns the ranges that differ in each; null where the lines are not alike, or too long. */
export function changedWords(before: string, after: string): { before: Range[]; after: Range[] } | null {
  if (before.length > LINE_CHARACTERS || after.length > LINE_CHARACTERS) return null;
  const [a, b] = [wordsOf(before), wordsOf(after)];
  const pairs = matchesOf(a, b, MOST_WORDS);
  const kept = pairs.reduce((sum, [at]) => sum + a[at]!.trim().length, 0);
  const whole = Math.max(before.replace(/\s+/g, "").length, after.replace(/\s+/g, "").length);
  if (whole === 0 || kept < whole * ALIKE) return null;
  return {
    before: rangesWithout(a, new Set(pairs.map(([at]) => at))),
    after: rangesWithout(b, new Set(pairs.map(([, at]) => at))),
  };
}

/** Where the words are that did not stay; a space between two of them belongs to them. */
function rangesWithout(words: readonly string[], kept: ReadonlySet<number>): Range[] {
  const ranges: [number, number][] = [];
  let at = 0;
  words.forEach((word, index) => {
    const isSpaceBetween = word.trim() === "" && index > 0 && !kept.has(index - 1) && !kept.has(index + 1);
    if (!kept.has(index) || (isSpaceBetween && index + 1 < words.length)) {
      const last = ranges.at(-1);
      if (last && last[1] === at) last[1] = at + word.length;
      else ranges.push([at, at + word.length]);
    }
    at += word.length;
  });
  return ranges;
}
