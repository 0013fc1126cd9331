/** Scopes, and the names that are bound in them. */
import type { BindingRow, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { defineColumn, tableOf } from "./fact-table.ts";

export const ScopeTable = tableOf<ScopeRow>()({
  parent: defineColumn<ScopeRow>(0),
  kind: defineColumn(1),
  symbol: defineColumn<SymbolRow>(2),
});

const BINDING = {
  scope: defineColumn<ScopeRow>(0),
  name: defineColumn<NameRow>(1),
  kind: defineColumn(2),
  /** For Symbol. */
  symbol: defineColumn<SymbolRow>(3),
  /** For Import. */
  importRow: defineColumn<ImportRow>(3),
  /** For Local and Parameter: the declared type, or none. */
  type: defineColumn<TypeRow>(3),
  /** For Local and Parameter: the initial expression, or none. */
  value: defineColumn<ExprRow>(4),
  /** For TypeParameter: its constraint, or none. */
  constraint: defineColumn<TypeRow>(3),
  /** For TypeParameter: its default type, or none. */
  fallback: defineColumn<TypeRow>(4),
};

export class BindingTable extends tableOf<BindingRow>()(BINDING) {
  setValue(row: BindingRow, value: number): void {
    this.cells[row * this.size + BINDING.value] = value;
  }

  setConstraint(row: BindingRow, type: TypeRow): void {
    this.cells[row * this.size + BINDING.constraint] = type;
  }

  setFallback(row: BindingRow, type: TypeRow): void {
    this.cells[row * this.size + BINDING.fallback] = type;
  }
}
