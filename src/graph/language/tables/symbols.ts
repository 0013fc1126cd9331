/** What a file declares. */
import { FactTable } from "./fact-table.ts";

/** Columns. `name` and `signature` are indexes into `strings`. */
const SYMBOL = {
  label: 0,
  name: 1,
  /** Enclosing symbol row, or -1. */
  parent: 2,
  /** Scope the symbol is declared in. */
  scope: 3,
  /** Scope the symbol opens (its parameters, its members), or -1. */
  inner: 4,
  startLine: 5,
  endLine: 6,
  flags: 7,
  /** Declared type of a value; declared return type of a function; aliased type of an alias. */
  type: 8,
  /** Initial value of a variable or property; what a decorator names or calls. */
  value: 9,
  /** List of parameter binding rows, or -1. */
  parameters: 10,
  /** List of returned expressions, or -1. */
  returns: 11,
  /** List of type parameter binding rows, or -1. */
  typeParameters: 12,
  signature: 13,
  doc: 14,
  /** Fewest and most arguments: `min * 1000 + max`; 999 is any number. -1 when not known. */
  arity: 15,
  size: 16,
} as const;

export type SymbolColumn = Exclude<keyof typeof SYMBOL, "size">;

export class SymbolTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, SYMBOL.size);
  }

  override add(a = -1, b = -1, c = -1, d = -1, e = -1, f = -1, g = -1, ...rest: number[]): number {
    const row = super.add(a, b, c, d, e, f, g);
    const at = row * SYMBOL.size;
    for (let column = 7; column < SYMBOL.size; column++) this.cells[at + column] = rest[column - 7] ?? -1;
    return row;
  }

  label(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.label]!;
  }

  name(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.name]!;
  }

  parent(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.parent]!;
  }

  scope(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.scope]!;
  }

  inner(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.inner]!;
  }

  startLine(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.startLine]!;
  }

  endLine(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.endLine]!;
  }

  flags(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.flags]!;
  }

  type(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.type]!;
  }

  value(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.value]!;
  }

  parameters(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.parameters]!;
  }

  returns(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.returns]!;
  }

  typeParameters(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.typeParameters]!;
  }

  signature(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.signature]!;
  }

  doc(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.doc]!;
  }

  arity(row: number): number {
    return this.cells[row * SYMBOL.size + SYMBOL.arity]!;
  }

  /** A column by its name. */
  column(row: number, column: SymbolColumn): number {
    return this.cells[row * SYMBOL.size + SYMBOL[column]]!;
  }

  set(row: number, column: SymbolColumn, value: number): void {
    this.cells[row * SYMBOL.size + SYMBOL[column]] = value;
  }
}
