/** A table of facts: rows of integers, side by side. Only its subclasses know what stands where in a row. */
export abstract class FactTable {
  /** The rows; while the table grows, with room for more behind them. */
  cells: Int32Array;
  /** Number of rows. A read of a row that is not there, such as -1, gives undefined, whatever its type says. */
  length: number;
  /** Integers in a row. */
  readonly size: number;

  constructor(cells: Int32Array, size: number) {
    this.cells = cells;
    this.size = size;
    this.length = cells.length / size;
  }

  /** Appends a row of values in the order of the columns; those left out are -1. Returns the row. */
  add(...values: number[]): number {
    const at = this.length * this.size;
    if (at + this.size > this.cells.length) {
      const bigger = new Int32Array(Math.max(this.size * 64, this.cells.length * 2));
      bigger.set(this.cells);
      this.cells = bigger;
    }
    for (let i = 0; i < this.size; i++) this.cells[at + i] = values[i] ?? -1;
    return this.length++;
  }

  /** The rows without the room behind them. */
  packed(): Int32Array {
    return this.cells.slice(0, this.length * this.size);
  }
}
