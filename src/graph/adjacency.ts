/** The edges at each node, by one of their ends. */

/** Rows by group: those of group n are `rows[start[n]] … rows[start[n + 1] - 1]`, in their order. */
interface RowsByGroup {
  start: Int32Array;
  rows: Int32Array;
}

/** The edges at so many nodes are looked for one node after the other: an index of all nodes costs as much as that. */
const MAX_SCANNED = 100;

export class Adjacency {
  private index: RowsByGroup | undefined;
  /** By node, until there is an index: the first question after an edit is about few nodes. */
  private readonly scanned = new Map<number, Int32Array>();

  /** @param ends the node at one end of each edge */
  constructor(
    private readonly nodes: number,
    private readonly ends: Int32Array,
  ) {}

  /** The edge rows at a node, in their order. */
  of(node: number): Int32Array {
    if (!this.index) {
      const known = this.scanned.get(node);
      if (known) return known;
      if (this.scanned.size < MAX_SCANNED) return this.edgesAt(node);
    }
    const { start, rows } = this.index ?? this.prepare();
    return rows.subarray(start[node]!, start[node + 1]!);
  }

  /** Makes the index of all nodes. */
  prepare(): RowsByGroup {
    this.index ??= rowsBy(this.ends, this.nodes);
    this.scanned.clear();
    return this.index;
  }

  private edgesAt(node: number): Int32Array {
    const { ends } = this;
    const found: number[] = [];
    for (let edge = ends.indexOf(node); edge >= 0; edge = ends.indexOf(node, edge + 1)) found.push(edge);
    const rows = Int32Array.from(found);
    this.scanned.set(node, rows);
    return rows;
  }
}

/** @param of the group of each row */
export function rowsBy(of: Int32Array, count: number): RowsByGroup {
  const start = new Int32Array(count + 1);
  // By rows: the iterator of a typed array takes several times as long.
  for (let row = 0; row < of.length; row++) start[of[row]! + 1]!++;
  for (let group = 0; group < count; group++) start[group + 1]! += start[group]!;
  const at = start.slice(0, count);
  const rows = new Int32Array(of.length);
  for (let row = 0; row < of.length; row++) rows[at[of[row]!]!++] = row;
  return { start, rows };
}
