/** What a file declares. */
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
import { FactTable } from "./fact-table.ts";

/** Columns. `name` and `signature` are indexes into `strings`. */
const SYMBOL = {
  label: 0,
  name: 1,
  /** Enclosing symbol row, or none. */
  parent: 2,
  /** Scope the symbol is declared in. */
  scope: 3,
  /** Scope the symbol opens (its parameters, its members), or none. */
  inner: 4,
  startLine: 5,
  endLine: 6,
  flags: 7,
  /** Declared type of a value; declared return type of a function; aliased type of an alias. */
  type: 8,
  /** Initial value of a variable or property; what a decorator names or calls. */
  value: 9,
  /** List of parameter binding rows, or none. */
  parameters: 10,
  /** List of returned expressions, or none. */
  returns: 11,
  /** List of type parameter binding rows, or none. */
  typeParameters: 12,
  signature: 13,
  doc: 14,
  /** Fewest and most arguments: `min * 1000 + max`; 999 is any number. -1 when not known. */
  arity: 15,
  size: 16,
} as const;

/** What each column holds. */
interface Symbol {
  label: number;
  name: NameRow;
  parent: SymbolRow;
  scope: ScopeRow;
  inner: ScopeRow;
  startLine: number;
  endLine: number;
  flags: number;
  type: TypeRow;
  value: ExprRow;
  parameters: BindingList;
  returns: ExprList;
  typeParameters: BindingList;
  signature: NameRow;
  doc: NameRow;
  arity: number;
}
export type SymbolColumn = keyof Symbol;
export type SymbolValue<Column extends SymbolColumn> = Symbol[Column];

export class SymbolTable extends FactTable<SymbolRow> {
  constructor(cells: Int32Array) {
    super(cells, SYMBOL.size);
  }

  override add(a = -1, b: NameRow = NONE, c = -1, d = -1, e = -1, f = -1, g = -1, ...rest: number[]): SymbolRow {
    const row = super.add(a, b, c, d, e, f, g);
    const at = row * SYMBOL.size;
    for (let column = 7; column < SYMBOL.size; column++) this.cells[at + column] = rest[column - 7] ?? -1;
    return row;
  }

  label(row: SymbolRow): number {
    return this.rows[row * SYMBOL.size + SYMBOL.label]!;
  }

  name(row: SymbolRow): NameRow {
    return this.rows[row * SYMBOL.size + SYMBOL.name]!;
  }

  parent(row: SymbolRow): SymbolRow {
    return this.rows[row * SYMBOL.size + SYMBOL.parent]!;
  }

  scope(row: SymbolRow): ScopeRow {
    return this.rows[row * SYMBOL.size + SYMBOL.scope]!;
  }

  inner(row: SymbolRow): ScopeRow {
    return this.rows[row * SYMBOL.size + SYMBOL.inner]!;
  }

  startLine(row: SymbolRow): number {
    return this.rows[row * SYMBOL.size + SYMBOL.startLine]!;
  }

  endLine(row: SymbolRow): number {
    return this.rows[row * SYMBOL.size + SYMBOL.endLine]!;
  }

  flags(row: SymbolRow): number {
    return this.rows[row * SYMBOL.size + SYMBOL.flags]!;
  }

  type(row: SymbolRow): TypeRow {
    return this.rows[row * SYMBOL.size + SYMBOL.type]!;
  }

  value(row: SymbolRow): ExprRow {
    return this.rows[row * SYMBOL.size + SYMBOL.value]!;
  }

  parameters(row: SymbolRow): BindingList {
    return this.rows[row * SYMBOL.size + SYMBOL.parameters]!;
  }

  returns(row: SymbolRow): ExprList {
    return this.rows[row * SYMBOL.size + SYMBOL.returns]!;
  }

  typeParameters(row: SymbolRow): BindingList {
    return this.rows[row * SYMBOL.size + SYMBOL.typeParameters]!;
  }

  signature(row: SymbolRow): NameRow {
    return this.rows[row * SYMBOL.size + SYMBOL.signature]!;
  }

  doc(row: SymbolRow): NameRow {
    return this.rows[row * SYMBOL.size + SYMBOL.doc]!;
  }

  arity(row: SymbolRow): number {
    return this.rows[row * SYMBOL.size + SYMBOL.arity]!;
  }

  /** A column by its name. */
  column<Column extends SymbolColumn>(row: SymbolRow, column: Column): SymbolValue<Column> {
    return rowAt(this.rows[row * SYMBOL.size + SYMBOL[column]]!);
  }

  set<Column extends SymbolColumn>(row: SymbolRow, column: Column, value: SymbolValue<Column>): void {
    this.cells[row * SYMBOL.size + SYMBOL[column]] = value;
  }
}
