import { asRows, type None, type Rows, rowAt } from "../../rows.ts";

/** A table of facts: rows of integers, one after the other. Only its subclasses know which value is where in a row. */
export abstract class FactTable<R extends number = number> {
  /** The rows. While the table grows, there is unused room after them. */
  cells: Int32Array;
  /** The same integers, typed for reading. */
  protected rows: Rows<None>;
  /** Number of rows. Reading a missing row, such as -1, gives undefined, whatever its type says. */
  length: number;
  /** Number of integers in a row. */
  readonly size: number;

  constructor(cells: Int32Array, size: number) {
    this.cells = cells;
    this.rows = asRows(cells);
    this.size = size;
    this.length = cells.length / size;
  }

  /**
   * Appends a row. Values are in the order of the columns; missing ones are -1. @returns the row
   *
   * There is one parameter for each value because a rest parameter would create an array at each call, and a repository
   * has millions of rows.
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

  /** The first row, for a loop over all rows with `rowAfter` up to `length`. */
  get first(): R {
    return rowAt<R>(0);
  }

  /** Makes room for another row. @returns the index of its first integer */
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

  /** Drops all rows, but keeps the memory. */
  clear(): void {
    this.length = 0;
  }

  /** Number of integers in all rows. */
  get cellCount(): number {
    return this.length * this.size;
  }

  /**
   * Copies the rows into `into`. @returns the index after them. Copied one by one: most tables are too short for a
   * view.
   */
  copyTo(into: Int32Array, place: number): number {
    const { cells, cellCount } = this;
    for (let i = 0; i < cellCount; i++) into[place + i] = cells[i]!;
    return place + cellCount;
  }

  /** The rows without the unused room. */
  toCells(): Int32Array {
    return this.cells.subarray(0, this.cellCount);
  }
}

declare const held: unique symbol;
/** The place of a value in a row, and the type of that value. */
type Column<Value extends number> = number & { readonly [held]: Value };
type Columns = Record<string, Column<number>>;
export type ValueIn<C> = C extends Column<infer Value> ? Value : never;
type Reads<R extends number, C extends Columns> = { [Name in keyof C]: (row: R) => ValueIn<C[Name]> };
type TableClass<R extends number, C extends Columns> = new (cells: Int32Array) => FactTable<R> & Reads<R, C>;

/** The column at a place. Several columns may share a place, if another column says which of them a row has. */
export const defineColumn = <Value extends number = number>(place: number): Column<Value> =>
  rowAt<Column<Value>>(place);

/** Makes the class of a table with rows of type `R`. Each column is read by a method with its name. */
export const tableOf = <R extends number = number>() => {
  return <C extends Columns>(columns: C): TableClass<R, C> => {
    const size = Math.max(...Object.values(columns)) + 1;
    class Table extends FactTable<R> {
      constructor(cells: Int32Array) {
        super(cells, size);
      }
    }
    for (const [name, place] of Object.entries(columns)) {
      const read = function (this: Table, row: R) {
        return this.rows[row * size + place];
      };
      Object.defineProperty(Table.prototype, name, { value: read });
    }
    return Table as TableClass<R, C>;
  };
};
