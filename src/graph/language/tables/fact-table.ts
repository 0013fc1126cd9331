import { asRows, type None, type Rows, rowAt } from "../../rows.ts";

/** A table of facts: rows of integers, side by side. Only its subclasses know what stands where in a row. */
export abstract class FactTable<R extends number = number> {
  /** The rows; while the table grows, with room for more behind them. */
  cells: Int32Array;
  /** The same integers, as what reads of them give. */
  protected rows: Rows<None>;
  /** Number of rows. A read of a row that is not there, such as -1, gives undefined, whatever its type says. */
  length: number;
  /** Integers in a row. */
  readonly size: number;

  constructor(cells: Int32Array, size: number) {
    this.cells = cells;
    this.rows = asRows(cells);
    this.size = size;
    this.length = cells.length / size;
  }

  /**
   * Appends a row of values in the order of the columns; those left out are -1. Returns the row. Parameters of their own
   * make no array at each call: a repository has millions of rows.
   */
  add(a = -1, b = -1, c = -1, d = -1, e = -1, f = -1, g = -1): R {
    const { size } = this;
    const at = this.startRow();
    const { cells } = this;
    cells[at] = a;
    if (size > 1) cells[at + 1] = b;
    if (size > 2) cells[at + 2] = c;
    if (size > 3) cells[at + 3] = d;
    if (size > 4) cells[at + 4] = e;
    if (size > 5) cells[at + 5] = f;
    if (size > 6) cells[at + 6] = g;
    return rowAt<R>(this.length++);
  }

  /** Where a walk over all rows begins; `rowAfter` leads on, to `length`. */
  get first(): R {
    return rowAt<R>(0);
  }

  /** Makes room for another row. Returns the place of its first integer. */
  protected startRow(): number {
    const at = this.length * this.size;
    if (at + this.size > this.cells.length) {
      const bigger = new Int32Array(Math.max(this.size * 64, this.cells.length * 2));
      bigger.set(this.cells);
      this.cells = bigger;
      this.rows = asRows(bigger);
    }
    return at;
  }

  /** The rows without the room behind them. */
  packed(): Int32Array {
    return this.cells.subarray(0, this.length * this.size);
  }
}
