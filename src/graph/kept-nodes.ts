/** What an edit leaves of a graph's nodes, so that what was made of the others need not be made again. */

import type { MovedRows } from "./moved-rows.ts";

export interface KeptNodes {
  /** Where old nodes are that are as they were; the others are gone. */
  moved: MovedRows;
  /** The rows of all others, in their order. */
  fresh: readonly number[];
}

/** What two edits leave, one after the other. */
export function keptByBoth(first: KeptNodes, second: KeptNodes): KeptNodes {
  const fresh = new Set(second.fresh);
  for (const row of first.fresh) {
    const now = second.moved.at(row);
    if (now >= 0) fresh.add(now);
  }
  return { moved: first.moved.moveAgain(second.moved), fresh: [...fresh].sort((a, b) => a - b) };
}
