/** The imports and exports of a file. */
import type { ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow } from "../../rows.ts";
import { defineColumn, tableOf } from "./fact-table.ts";

export const ImportTable = tableOf<ImportRow>()({
  kind: defineColumn(0),
  module: defineColumn<NameRow>(1),
  name: defineColumn<NameRow>(2),
  local: defineColumn<NameRow>(3),
  line: defineColumn(4),
  scope: defineColumn<ScopeRow>(5),
  /** The Import symbol of the statement in the source; none for names that need no import. */
  statement: defineColumn<SymbolRow>(6),
});

export const ExportTable = tableOf()({
  kind: defineColumn(0),
  name: defineColumn<NameRow>(1),
  /** For Local and ReExport: a name. */
  from: defineColumn<NameRow>(2),
  /** For Value. */
  value: defineColumn<ExprRow>(2),
  importRow: defineColumn<ImportRow>(3),
});
