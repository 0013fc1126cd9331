/** The nodes of a graph that an edit left unchanged, so that what was derived from them can be reused. */

import type { MovedRows } from "./moved-rows.ts";

export interface KeptNodes {
  /** The new rows of the unchanged nodes. Nodes that the edit changed or removed count as gone. */
  moved: MovedRows;
  /** The rows of all other nodes of the new graph, in ascending order. */
  fresh: readonly number[];
}

/** The nodes that two successive edits both left unchanged. */
export function keptByBoth(first: KeptNodes, second: KeptNodes): KeptNodes {
  const fresh = new Set(second.fresh);
  for (const row of first.fresh) {
    const now = second.moved.at(row);
    if (now >= 0) fresh.add(now);
  }
  return { moved: first.moved.moveAgain(second.moved), fresh: [...fresh].sort((a, b) => a - b) };
}
