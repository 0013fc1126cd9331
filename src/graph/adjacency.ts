/** The edges at each node, by one of their ends. */

/** Edge rows by node: those of node n are `rows[start[n]] … rows[start[n + 1] - 1]`. */
interface Index {
  start: Int32Array;
  rows: Int32Array;
}

/** The edges at so many nodes are looked for one node after the other: an index of all nodes costs as much as that. */
const MAX_SCANNED = 100;

export class Adjacency {
  private index: Index | undefined;
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
  prepare(): Index {
    this.index ??= indexOf(this.nodes, this.ends);
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

function indexOf(nodes: number, ends: Int32Array): Index {
  const start = new Int32Array(nodes + 1);
  // By rows: the iterator of a typed array takes several times as long.
  for (let edge = 0; edge < ends.length; edge++) start[ends[edge]! + 1]!++;
  for (let i = 0; i < nodes; i++) start[i + 1]! += start[i]!;
  const at = start.slice(0, nodes);
  const rows = new Int32Array(ends.length);
  for (let edge = 0; edge < ends.length; edge++) rows[at[ends[edge]!]!++] = edge;
  return { start, rows };
}
