/**
 * Where the rows of a graph are after an edit. Whole stretches of rows move by the same number, so only the stretches
 * are kept. A list of all rows would take longer to make than everything else that an edit does with them.
 */

interface Stretch {
  /** The row after the last one of this stretch. */
  end: number;
  /** The number that is added to each row of the stretch; undefined if its rows are gone. */
  by: number | undefined;
}

export class MovedRows {
  private constructor(private readonly stretches: readonly Stretch[]) {}

  /** @param stretches stretches of rows, in ascending order from row 0; empty ones are left out */
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

  /** This many rows, all of which stay where they are. */
  static same(length: number): MovedRows {
    return MovedRows.of([{ end: length, by: 0 }]);
  }

  /** How many rows there were before the edit. */
  get length(): number {
    return this.stretches.at(-1)?.end ?? 0;
  }

  /** The new number of a row; -1 if the row is gone or never existed. */
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

  /** Where the rows are after this edit and a further one. */
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

  /** The new number of each row, -1 for rows that are gone. */
  list(): Int32Array {
    const rows = new Int32Array(this.length).fill(-1);
    let row = 0;
    for (const { end, by } of this.stretches) {
      if (by === undefined) row = end;
      else for (; row < end; row++) rows[row] = row + by;
    }
    return rows;
  }

  /**
   * Where a second edit moves a stretch that an earlier edit had moved by `by`. The second edit is `this`.
   * @param from the first row of the stretch after the earlier edit
   * @param to the row after its last one, also after the earlier edit
   * @returns stretches in terms of the rows before both edits
   */
  private *between(from: number, to: number, by: number): Generator<Stretch> {
    for (const { end, by: more } of this.stretches) {
      if (end <= from) continue;
      yield { end: Math.min(end, to) - by, by: more === undefined ? undefined : by + more };
      if (end >= to) return;
    }
    yield { end: to - by, by: undefined };
  }
}
