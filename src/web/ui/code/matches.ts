/** A longest common subsequence of two sequences. All text comparisons are based on it. */

/**
 * If the shorter sequence is longer than this, only the common beginning and end are found: the table grows
 * quadratically.
 */
const MOST = 2_000;

/** @returns the indexes of equal elements in both sequences, ascending: a longest common subsequence. */
export function matchesOf(a: readonly string[], b: readonly string[], most = MOST): [inA: number, inB: number][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const pairs: [number, number][] = Array.from({ length: start }, (_, at) => [at, at]);
  const [rows, columns] = [a.length - start - end, b.length - start - end];
  if (rows <= most && columns <= most) {
    const width = columns + 1;
    const table = new Uint16Array((rows + 1) * width);
    for (let i = rows - 1; i >= 0; i--)
      for (let j = columns - 1; j >= 0; j--)
        table[i * width + j] =
          a[start + i] === b[start + j]
            ? table[(i + 1) * width + j + 1]! + 1
            : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
    let [i, j] = [0, 0];
    while (i < rows && j < columns) {
      if (a[start + i] === b[start + j]) pairs.push([start + i++, start + j++]);
      else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) i++;
      else j++;
    }
  }
  for (let at = end; at > 0; at--) pairs.push([a.length - at, b.length - at]);
  return pairs;
}
