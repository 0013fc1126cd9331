/** Finds the words that differ between a line and the line that replaced it. */
import { matchesOf } from "./matches.ts";

/** Character offsets in the line: from, to. */
export type Range = readonly [from: number, to: number];

/** Longer lines are marked as a whole. */
const LINE_CHARACTERS = 1_000;
const MOST_WORDS = 300;
/** Share of the longer line that must be unchanged. Below it, the lines count as unrelated. */
const ALIKE = 0.4;

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** @returns the ranges that differ in each line; null if the lines are unrelated or too long. */
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

/** The ranges of the words that changed; a space between two of them is included. */
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
