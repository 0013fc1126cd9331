/** Scopes, and the names that are bound in them. */
import type { BindingRow, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { FactTable } from "./fact-table.ts";

const SCOPE = { parent: 0, kind: 1, symbol: 2, size: 3 } as const;

export class ScopeTable extends FactTable<ScopeRow> {
  constructor(cells: Int32Array) {
    super(cells, SCOPE.size);
  }

  parent(row: ScopeRow): ScopeRow {
    return this.rows[row * SCOPE.size + SCOPE.parent]!;
  }

  kind(row: ScopeRow): number {
    return this.rows[row * SCOPE.size + SCOPE.kind]!;
  }

  symbol(row: ScopeRow): SymbolRow {
    return this.rows[row * SCOPE.size + SCOPE.symbol]!;
  }
}

const BINDING = { scope: 0, name: 1, kind: 2, a: 3, b: 4, size: 5 } as const;

export class BindingTable extends FactTable<BindingRow> {
  constructor(cells: Int32Array) {
    super(cells, BINDING.size);
  }

  scope(row: BindingRow): ScopeRow {
    return this.rows[row * BINDING.size + BINDING.scope]!;
  }

  name(row: BindingRow): NameRow {
    return this.rows[row * BINDING.size + BINDING.name]!;
  }

  kind(row: BindingRow): number {
    return this.rows[row * BINDING.size + BINDING.kind]!;
  }

  /** Of Symbol. */
  symbol(row: BindingRow): SymbolRow {
    return this.rows[row * BINDING.size + BINDING.a]!;
  }

  /** Of Import. */
  importRow(row: BindingRow): ImportRow {
    return this.rows[row * BINDING.size + BINDING.a]!;
  }

  /** Of Local and Parameter: the declared type, or none. */
  type(row: BindingRow): TypeRow {
    return this.rows[row * BINDING.size + BINDING.a]!;
  }

  /** Of Local and Parameter: the initial expression, or none. */
  value(row: BindingRow): ExprRow {
    return this.rows[row * BINDING.size + BINDING.b]!;
  }

  setValue(row: BindingRow, value: number): void {
    this.cells[row * BINDING.size + BINDING.b] = value;
  }

  /** Of TypeParameter, or none. */
  constraint(row: BindingRow): TypeRow {
    return this.rows[row * BINDING.size + BINDING.a]!;
  }

  /** Of TypeParameter: its default type, or none. */
  fallback(row: BindingRow): TypeRow {
    return this.rows[row * BINDING.size + BINDING.b]!;
  }

  setConstraint(row: BindingRow, type: TypeRow): void {
    this.cells[row * BINDING.size + BINDING.a] = type;
  }

  setFallback(row: BindingRow, type: TypeRow): void {
    this.cells[row * BINDING.size + BINDING.b] = type;
  }
}
