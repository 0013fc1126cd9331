/** Finds names that a misspelled name may have meant. */
import type { CodeGraph } from "../code-graph.ts";
import { NODE_LABELS, REFERENCE_LABELS } from "../model.ts";

/** At most this many characters of the text and of a name are compared letter by letter. */
const MAX_COMPARED = 64;
/** Shortest part of a name that counts as a likeness to the whole. */
const MIN_PART = 4;
/** Labels of nodes that nobody asks for by name. */
const UNNAMED = new Set(
  NODE_LABELS.flatMap((label, row) =>
    REFERENCE_LABELS.has(label) || label === "Community" || label === "Process" || label === "Folder" ? [row] : [],
  ),
);

/** At most `limit` names that are near a misspelled one, nearest first. */
export function nearNames(graph: CodeGraph, text: string, limit: number): string[] {
  // In a qualified name, the last part is the one that is misspelled most often.
  const wanted = text
    .trim()
    .replace(/\(\)$/, "")
    .toLowerCase()
    .split(/[.#:/\\]+/)
    .at(-1)!
    .slice(0, MAX_COMPARED);
  if (wanted === "") return [];
  const { label, name: names } = graph.nodes;
  const most = Math.max(1, wanted.length / 4);
  const distanceTo = createDistance(wanted, most);
  const near = new Map<string, number>();
  for (let row = 0; row < label.length; row++) {
    if (UNNAMED.has(label[row]!)) continue;
    const name = names.get(row)!;
    const distance = distanceTo(name.toLowerCase());
    if (distance <= most) near.set(name, distance);
  }
  return [...near]
    .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, limit)
    .map(([name]) => name);
}

/**
 * @param most names further away than this may get any larger distance
 * @returns a function that measures how far a name is from `wanted`: the edit distance, or less if one is a large part
 * of the other
 */
function createDistance(wanted: string, most: number): (name: string) => number {
  const letters = lettersOf(wanted);
  const compare = createEditDistance(wanted, most);
  return (name) => {
    const longer = Math.max(name.length, wanted.length);
    const shorter = Math.min(name.length, wanted.length);
    const isPart = shorter >= MIN_PART && shorter * 2 >= longer && (name.includes(wanted) || wanted.includes(name));
    if (isPart) return Math.min((longer - shorter) / 4, wanted.length / 4);
    if (longer - shorter > wanted.length / 4 + 1) return Number.POSITIVE_INFINITY;
    const compared = name.slice(0, MAX_COMPARED);
    // An edit adds or removes one letter, so each letter that only one of the two has costs an edit.
    const own = lettersOf(compared);
    if (countBits(letters & ~own) > most || countBits(own & ~letters) > most) return Number.POSITIVE_INFINITY;
    return compare(compared);
  };
}

/** A set of the letters in a text, as bits. Characters that share a bit count as the same letter. */
function lettersOf(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) bits |= 1 << (text.charCodeAt(at) & 31);
  return bits;
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

/**
 * @returns a function for the edit distance to `wanted`, where a swap of neighboring letters counts as one edit
 * (Damerau–Levenshtein, optimal string alignment). If the distance exceeds `most`, any number above `most` may be
 * returned.
 */
function createEditDistance(wanted: string, most: number): (name: string) => number {
  const width = wanted.length + 1;
  let [before, previous, row] = [new Int32Array(width), new Int32Array(width), new Int32Array(width)];
  return (name) => {
    for (let j = 0; j < width; j++) previous[j] = j;
    let leastBefore = 0;
    for (let i = 1; i <= name.length; i++) {
      row[0] = i;
      let least = i;
      const letter = name.charCodeAt(i - 1);
      for (let j = 1; j < width; j++) {
        const other = wanted.charCodeAt(j - 1);
        let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (letter === other ? 0 : 1));
        const swapped =
          i > 1 && j > 1 && letter === wanted.charCodeAt(j - 2) && name.charCodeAt(i - 2) === other && letter !== other;
        if (swapped) cost = Math.min(cost, before[j - 2]! + 1);
        row[j] = cost;
        if (cost < least) least = cost;
      }
      // Later rows depend on the last two only.
      if (least > most && leastBefore > most) return least;
      leastBefore = least;
      [before, previous, row] = [previous, row, before];
    }
    return previous[width - 1]!;
  };
}
