/** What a file takes from others and gives to them. */
import type { ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow } from "../../rows.ts";
import { FactTable } from "./fact-table.ts";

/** `statement` is the Import symbol that stands for what is written; none for names that need no import. */
const IMPORT = { kind: 0, module: 1, name: 2, local: 3, line: 4, scope: 5, statement: 6, size: 7 } as const;

export class ImportTable extends FactTable<ImportRow> {
  constructor(cells: Int32Array) {
    super(cells, IMPORT.size);
  }

  kind(row: ImportRow): number {
    return this.rows[row * IMPORT.size + IMPORT.kind]!;
  }

  module(row: ImportRow): NameRow {
    return this.rows[row * IMPORT.size + IMPORT.module]!;
  }

  name(row: ImportRow): NameRow {
    return this.rows[row * IMPORT.size + IMPORT.name]!;
  }

  local(row: ImportRow): NameRow {
    return this.rows[row * IMPORT.size + IMPORT.local]!;
  }

  line(row: ImportRow): number {
    return this.rows[row * IMPORT.size + IMPORT.line]!;
  }

  scope(row: ImportRow): ScopeRow {
    return this.rows[row * IMPORT.size + IMPORT.scope]!;
  }

  statement(row: ImportRow): SymbolRow {
    return this.rows[row * IMPORT.size + IMPORT.statement]!;
  }
}

const EXPORT = { kind: 0, name: 1, from: 2, import: 3, size: 4 } as const;

export class ExportTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, EXPORT.size);
  }

  kind(row: number): number {
    return this.rows[row * EXPORT.size + EXPORT.kind]!;
  }

  name(row: number): NameRow {
    return this.rows[row * EXPORT.size + EXPORT.name]!;
  }

  /** Of Local and ReExport: a name. */
  from(row: number): NameRow {
    return this.rows[row * EXPORT.size + EXPORT.from]!;
  }

  /** Of Value. */
  value(row: number): ExprRow {
    return this.rows[row * EXPORT.size + EXPORT.from]!;
  }

  importRow(row: number): ImportRow {
    return this.rows[row * EXPORT.size + EXPORT.import]!;
  }
}
