/** Scopes, and the names that are bound in them. */
import { FactTable } from "./fact-table.ts";

const SCOPE = { parent: 0, kind: 1, symbol: 2, size: 3 } as const;

export class ScopeTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, SCOPE.size);
  }

  parent(row: number): number {
    return this.cells[row * SCOPE.size + SCOPE.parent]!;
  }

  kind(row: number): number {
    return this.cells[row * SCOPE.size + SCOPE.kind]!;
  }

  symbol(row: number): number {
    return this.cells[row * SCOPE.size + SCOPE.symbol]!;
  }
}

const BINDING = { scope: 0, name: 1, kind: 2, a: 3, b: 4, size: 5 } as const;

export class BindingTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, BINDING.size);
  }

  scope(row: number): number {
    return this.cells[row * BINDING.size + BINDING.scope]!;
  }

  name(row: number): number {
    return this.cells[row * BINDING.size + BINDING.name]!;
  }

  kind(row: number): number {
    return this.cells[row * BINDING.size + BINDING.kind]!;
  }

  /** Of Symbol. */
  symbol(row: number): number {
    return this.cells[row * BINDING.size + BINDING.a]!;
  }

  /** Of Import. */
  importRow(row: number): number {
    return this.cells[row * BINDING.size + BINDING.a]!;
  }

  /** Of Local and Parameter: the declared type, or -1. */
  type(row: number): number {
    return this.cells[row * BINDING.size + BINDING.a]!;
  }

  /** Of Local and Parameter: the initial expression, or -1. */
  value(row: number): number {
    return this.cells[row * BINDING.size + BINDING.b]!;
  }

  setType(row: number, type: number): void {
    this.cells[row * BINDING.size + BINDING.a] = type;
  }

  setValue(row: number, value: number): void {
    this.cells[row * BINDING.size + BINDING.b] = value;
  }

  /** Of TypeParameter; or -1. */
  constraint(row: number): number {
    return this.cells[row * BINDING.size + BINDING.a]!;
  }

  /** Of TypeParameter: its default type, or -1. */
  fallback(row: number): number {
    return this.cells[row * BINDING.size + BINDING.b]!;
  }

  setConstraint(row: number, type: number): void {
    this.cells[row * BINDING.size + BINDING.a] = type;
  }

  setFallback(row: number, type: number): void {
    this.cells[row * BINDING.size + BINDING.b] = type;
  }
}
