/**
 * Where the rows of a graph are after an edit. Whole stretches of rows move by the same number, so only the stretches are
 * kept: a list of all rows would take longer to make than all else that an edit does with them.
 */

interface Stretch {
  /** The first row of the next one. */
  end: number;
  /** What is added to its rows; undefined where they are gone. */
  by: number | undefined;
}

export class MovedRows {
  private constructor(private readonly stretches: readonly Stretch[]) {}

  /** @param stretches of rows from 0 on, in their order; empty ones are left out */
  static of(stretches: Iterable<Stretch>): MovedRows {
    const kept: Stretch[] = [];
    let end = 0;
    for (const one of stretches) {
      if (one.end <= end) continue;
      end = one.end;
      const last = kept.at(-1);
      if (last?.by === one.by && last) last.end = end;
      else kept.push({ ...one });
    }
    return new MovedRows(kept);
  }

  /** So many rows that stay where they are. */
  static same(length: number): MovedRows {
    return MovedRows.of([{ end: length, by: 0 }]);
  }

  /** How many rows there were. */
  get length(): number {
    return this.stretches.at(-1)?.end ?? 0;
  }

  /** The new row of one; -1 for what is gone, or never was. */
  at(row: number): number {
    const { stretches } = this;
    let low = 0;
    let high = stretches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (stretches[middle]!.end <= row) low = middle + 1;
      else high = middle;
    }
    const by = stretches[low]?.by;
    return by === undefined ? -1 : row + by;
  }

  /** The same after a further edit. */
  moveAgain(next: MovedRows): MovedRows {
    const moved: Stretch[] = [];
    let start = 0;
    for (const { end, by } of this.stretches) {
      if (by === undefined) moved.push({ end, by });
      else moved.push(...next.between(start + by, end + by, by));
      start = end;
    }
    return MovedRows.of(moved);
  }

  /** The new row of each row, in a list. */
  list(): Int32Array {
    const rows = new Int32Array(this.length).fill(-1);
    let row = 0;
    for (const { end, by } of this.stretches) {
      if (by === undefined) row = end;
      else for (; row < end; row++) rows[row] = row + by;
    }
    return rows;
  }

  /** What becomes of rows `from` … `to - 1`, in terms of where they were before they had moved `by`. */
  private *between(from: number, to: number, by: number): Generator<Stretch> {
    for (const { end, by: more } of this.stretches) {
      if (end <= from) continue;
      yield { end: Math.min(end, to) - by, by: more === undefined ? undefined : by + more };
      if (end >= to) return;
    }
    yield { end: to - by, by: undefined };
  }
}
