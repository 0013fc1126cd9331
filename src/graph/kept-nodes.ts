/** What an edit leaves of a graph's nodes, so that what was made of the others need not be made again. */

export interface KeptNodes {
  /** The new row of each old node that is as it was, else -1. */
  moved: Int32Array;
  /** The rows of all others, in their order. */
  fresh: readonly number[];
}

/** What two edits leave, one after the other. */
export function keptByBoth(first: KeptNodes, second: KeptNodes): KeptNodes {
  const now = (row: number): number => (row < 0 ? -1 : (second.moved[row] ?? -1));
  const fresh = new Set(second.fresh);
  for (const row of first.fresh) if (now(row) >= 0) fresh.add(now(row));
  const moved = new Int32Array(first.moved.length);
  for (let row = 0; row < moved.length; row++) moved[row] = now(first.moved[row]!);
  return { moved, fresh: [...fresh].sort((a, b) => a - b) };
}
