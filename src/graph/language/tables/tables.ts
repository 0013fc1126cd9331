/** All tables of one file's facts. */
import { keysOf } from "../../../core/typed-keys.ts";
import { asRows, exists, type ListOf, type Rows } from "../../rows.ts";
import { ExprTable } from "./exprs.ts";
import { FactTable } from "./fact-table.ts";
import { ExportTable, ImportTable } from "./imports.ts";
import { AssignTable, AttachTable, CallTable, HeritageTable, NarrowTable, SpaceTable, UseTable } from "./relations.ts";
import { BindingTable, ScopeTable } from "./scopes.ts";
import { SymbolTable } from "./symbols.ts";
import { TypeTable } from "./types.ts";

/** Lists of rows or names, each after its length. A list is the place of its length; -1 is the empty one. */
class ListTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, 1);
  }

  items<Item extends number>(list: ListOf<Item>): Rows<Item> {
    const items = exists(list) ? this.cells.subarray(list + 1, list + 1 + this.cells[list]!) : NO_ITEMS;
    return asRows(items);
  }
}

const NO_ITEMS = new Int32Array(0);

/** In the order in which facts are packed. */
const TABLES = {
  symbols: SymbolTable,
  scopes: ScopeTable,
  bindings: BindingTable,
  imports: ImportTable,
  exports: ExportTable,
  exprs: ExprTable,
  types: TypeTable,
  calls: CallTable,
  uses: UseTable,
  heritage: HeritageTable,
  attaches: AttachTable,
  spaces: SpaceTable,
  assigns: AssignTable,
  narrows: NarrowTable,
  lists: ListTable,
};

export type TableName = keyof typeof TABLES;
export type FactTables = { [Name in TableName]: InstanceType<(typeof TABLES)[Name]> };

export const TABLE_NAMES: readonly TableName[] = keysOf(TABLES);

export const emptyTables = (): FactTables => factTables(() => NO_ITEMS);

/** @param cells the integers of a table by its name */
export function factTables(cells: (name: TableName) => Int32Array): FactTables {
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, new TABLES[name](cells(name))])) as FactTables;
}
