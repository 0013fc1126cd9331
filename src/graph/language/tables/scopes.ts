/** Scopes, and the names that are bound in them. */
import type { BindingRow, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

export const ScopeTable = tableOf<ScopeRow>()({ parent: at<ScopeRow>(0), kind: at(1), symbol: at<SymbolRow>(2) });

const BINDING = {
  scope: at<ScopeRow>(0),
  name: at<NameRow>(1),
  kind: at(2),
  /** For Symbol. */
  symbol: at<SymbolRow>(3),
  /** For Import. */
  importRow: at<ImportRow>(3),
  /** For Local and Parameter: the declared type, or none. */
  type: at<TypeRow>(3),
  /** For Local and Parameter: the initial expression, or none. */
  value: at<ExprRow>(4),
  /** For TypeParameter: its constraint, or none. */
  constraint: at<TypeRow>(3),
  /** For TypeParameter: its default type, or none. */
  fallback: at<TypeRow>(4),
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
