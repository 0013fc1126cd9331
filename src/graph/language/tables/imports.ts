/** What a file takes from others and gives to them. */
import { FactTable } from "./fact-table.ts";

/** `statement` is the Import symbol that stands for what is written; -1 for names that need no import. */
const IMPORT = { kind: 0, module: 1, name: 2, local: 3, line: 4, scope: 5, statement: 6, size: 7 } as const;

export class ImportTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, IMPORT.size);
  }

  kind(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.kind]!;
  }

  module(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.module]!;
  }

  name(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.name]!;
  }

  local(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.local]!;
  }

  line(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.line]!;
  }

  scope(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.scope]!;
  }

  statement(row: number): number {
    return this.cells[row * IMPORT.size + IMPORT.statement]!;
  }
}

const EXPORT = { kind: 0, name: 1, from: 2, import: 3, size: 4 } as const;

export class ExportTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, EXPORT.size);
  }

  kind(row: number): number {
    return this.cells[row * EXPORT.size + EXPORT.kind]!;
  }

  name(row: number): number {
    return this.cells[row * EXPORT.size + EXPORT.name]!;
  }

  from(row: number): number {
    return this.cells[row * EXPORT.size + EXPORT.from]!;
  }

  importRow(row: number): number {
    return this.cells[row * EXPORT.size + EXPORT.import]!;
  }
}
