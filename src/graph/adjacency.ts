/** The edges at each node, by one of their ends. */

/**
 * Edge rows grouped by node (CSR). The rows of group n are `rows[start[n]] … rows[start[n + 1] - 1]`, in ascending
 * order.
 */
interface RowsByGroup {
  start: Int32Array;
  rows: Int32Array;
}

/**
 * Up to this many nodes are answered by one scan over all edges each. Building the index costs about as much as these
 * scans.
 */
const MAX_SCANNED = 100;

export class Adjacency {
  private index: RowsByGroup | undefined;
  /** Results of scans by node, used until the index exists. The first question after an edit asks about few nodes. */
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

  /** Builds the index of all nodes, unless it exists. */
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

/**
 * Groups rows by a counting sort.
 * @param of the group of each row
 * @param count how many groups there are
 */
export function rowsBy(of: Int32Array, count: number): RowsByGroup {
  const start = new Int32Array(count + 1);
  // Indexed loops: iterating a typed array takes several times as long.
  for (let row = 0; row < of.length; row++) start[of[row]! + 1]!++;
  for (let group = 0; group < count; group++) start[group + 1]! += start[group]!;
  const at = start.slice(0, count);
  const rows = new Int32Array(of.length);
  for (let row = 0; row < of.length; row++) rows[at[of[row]!]!++] = row;
  return { start, rows };
}
