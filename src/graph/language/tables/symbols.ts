/** The symbols that a file declares. */
import {
  type BindingList,
  type ExprList,
  type ExprRow,
  type NameRow,
  NONE,
  rowAt,
  type ScopeRow,
  type SymbolRow,
  type TypeRow,
} from "../../rows.ts";
import { defineColumn, tableOf, type ValueIn } from "./fact-table.ts";

const SYMBOL = {
  label: defineColumn(0),
  name: defineColumn<NameRow>(1),
  /** Row of the enclosing symbol, or none. */
  parent: defineColumn<SymbolRow>(2),
  /** The scope in which the symbol is declared. */
  scope: defineColumn<ScopeRow>(3),
  /** The scope that the symbol opens for its parameters or members, or none. */
  inner: defineColumn<ScopeRow>(4),
  startLine: defineColumn(5),
  endLine: defineColumn(6),
  flags: defineColumn(7),
  /** The declared type of a value, the declared return type of a function, or the type that an alias stands for. */
  type: defineColumn<TypeRow>(8),
  /** The initial value of a variable or property, or the expression that a decorator names or calls. */
  value: defineColumn<ExprRow>(9),
  /** List of parameter binding rows, or none. */
  parameters: defineColumn<BindingList>(10),
  /** List of returned expressions, or none. */
  returns: defineColumn<ExprList>(11),
  /** List of type parameter binding rows, or none. */
  typeParameters: defineColumn<BindingList>(12),
  signature: defineColumn<NameRow>(13),
  doc: defineColumn<NameRow>(14),
  /** Fewest and most arguments, packed as `min * 1000 + max`. 999 means any number; -1 means unknown. */
  arity: defineColumn(15),
};

export type SymbolColumn = keyof typeof SYMBOL;
export type SymbolValue<Column extends SymbolColumn> = ValueIn<(typeof SYMBOL)[Column]>;

export class SymbolTable extends tableOf<SymbolRow>()(SYMBOL) {
  override add(a = -1, b: NameRow = NONE, c = -1, d = -1, e = -1, f = -1, g = -1, ...rest: number[]): SymbolRow {
    const row = super.add(a, b, c, d, e, f, g);
    const place = row * this.size;
    for (let column = 7; column < this.size; column++) this.cells[place + column] = rest[column - 7] ?? -1;
    return row;
  }

  /**
   * Numbers the rows that have none of some flags, in ascending order.
   * @param flags the flags
   * @param into gets the number of each row, from `place` on; -1 for the other rows
   * @param first the first number
   * @returns the number after the last one
   */
  numberWithout(flags: number, into: Int32Array, place: number, first: number): number {
    const { cells, length, size } = this;
    let next = first;
    for (let row = 0; row < length; row++)
      into[place + row] = (cells[row * size + SYMBOL.flags] ?? 0) & flags ? -1 : next++;
    return next;
  }

  /** The value in a column, by the column's name. */
  column<Column extends SymbolColumn>(row: SymbolRow, column: Column): SymbolValue<Column> {
    return rowAt(this.rows[row * this.size + SYMBOL[column]]!);
  }

  set<Column extends SymbolColumn>(row: SymbolRow, column: Column, value: SymbolValue<Column>): void {
    this.cells[row * this.size + SYMBOL[column]] = value;
  }
}
