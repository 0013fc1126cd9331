/** Suggests names that somebody may have meant. */

/** At most `count` names that a typing error may have changed to `word`, nearest first. */
export function nearNames(word: string, names: Iterable<string>, count = 3): string[] {
  const wanted = word.toLowerCase();
  if (wanted.length < 2) return [];
  const reach = Math.max(1, Math.floor(wanted.length / 3));
  return [...names]
    .map((name) => ({ name, distance: distanceOf(wanted, name.toLowerCase(), reach) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name))
    .slice(0, count)
    .map(({ name }) => name);
}

/** "Did you mean a or b?", or an empty text. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const near = nearNames(word, names);
  return near.length === 0 ? "" : `Did you mean ${near.join(" or ")}?`;
}

/** Longer words are not compared. */
const LONGEST = 64;

/**
 * Edit distance between two words (Damerau-Levenshtein; swapping neighbors counts once). Distances above `reach` are
 * only reported as larger than `reach`.
 */
function distanceOf(a: string, b: string, reach: number): number {
  if (a.startsWith(b) || b.startsWith(a)) return Math.min(reach, Math.abs(a.length - b.length));
  if (Math.abs(a.length - b.length) > reach || a.length > LONGEST) return reach + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      next.push(best);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
