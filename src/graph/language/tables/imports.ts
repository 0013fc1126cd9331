/** The imports and exports of a file. */
import type { ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

export const ImportTable = tableOf<ImportRow>()({
  kind: at(0),
  module: at<NameRow>(1),
  name: at<NameRow>(2),
  local: at<NameRow>(3),
  line: at(4),
  scope: at<ScopeRow>(5),
  /** The Import symbol of the statement in the source; none for names that need no import. */
  statement: at<SymbolRow>(6),
});

export const ExportTable = tableOf()({
  kind: at(0),
  name: at<NameRow>(1),
  /** For Local and ReExport: a name. */
  from: at<NameRow>(2),
  /** For Value. */
  value: at<ExprRow>(2),
  importRow: at<ImportRow>(3),
});
