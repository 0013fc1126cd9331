/** All tables of one file's facts. */
import { keysOf, recordOf } from "../../../core/typed-keys.ts";
import { asRows, isNone, type ListOf, NOTHING, type Rows, rowAt } from "../../rows.ts";
import { ExprTable } from "./exprs.ts";
import { FactTable } from "./fact-table.ts";
import { ExportTable, ImportTable } from "./imports.ts";
import { AssignTable, AttachTable, CallTable, HeritageTable, NarrowTable, SpaceTable, UseTable } from "./relations.ts";
import { BindingTable, ScopeTable } from "./scopes.ts";
import { SymbolTable } from "./symbols.ts";
import { TypeTable } from "./types.ts";

/** Longer lists are returned as views. For shorter ones a copy is cheaper. */
const COPIED = 8;

/** Lists of rows or names. Each is preceded by its length. A list is the index of its length; -1 is the empty list. */
class ListTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, 1);
  }

  items<Item extends number>(list: ListOf<Item>): Rows<Item> {
    if (isNone(list)) return NOTHING;
    const [start, end] = [list + 1, list + 1 + this.cells[list]!];
    if (end - start > COPIED) return asRows(this.cells.subarray(start, end));
    const items: Item[] = [];
    for (let at = start; at < end; at++) items.push(rowAt(this.cells[at]!));
    return items;
  }
}

const NO_ITEMS = new Int32Array(0);

/** The tables, in the order in which facts are packed. */
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

const CLASSES: { [Name in TableName]: new (cells: Int32Array) => FactTables[Name] } = TABLES;

export const TABLE_NAMES: readonly TableName[] = keysOf(TABLES);

export const emptyTables = (): FactTables => factTables(() => NO_ITEMS);

/** @param cells gives the integers of a table, by its name */
export function factTables(cells: (name: TableName) => Int32Array): FactTables {
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, new TABLES[name](cells(name))])) as FactTables;
}

const PLACES = recordOf(TABLE_NAMES, (name) => TABLE_NAMES.indexOf(name));

/** What the lengths of packed tables tell, without reading the tables. */
interface Layout {
  /** The index after the tables. */
  end: number;
  /** A bit for each table that has rows. */
  filled: number;
}

/** Reads the lengths of packed tables, which precede the tables. @returns undefined if they cannot be right */
export function readLengths(words: Int32Array, lengths: number): Layout | undefined {
  let end = lengths + TABLE_NAMES.length;
  let filled = 0;
  for (let place = 0; place < TABLE_NAMES.length; place++) {
    const length = words[lengths + place];
    if (length === undefined || length < 0) return undefined;
    if (length > 0) filled |= 1 << place;
    end += length;
  }
  return { end, filled };
}

/** The number of symbols, derived from the tables' lengths. */
export const countSymbols = (words: Int32Array, lengths: number): number =>
  (words[lengths + PLACES.symbols] ?? 0) / EMPTY.symbols.size;

/** @param filled the tables with rows, as returned by `readLengths` */
export const hasRows = (name: TableName, filled: number): boolean => (filled & (1 << PLACES[name])) !== 0;

/** Reads one packed table. The lengths of all tables precede it. */
export function readTable<Name extends TableName>(name: Name, words: Int32Array, lengths: number): FactTables[Name] {
  const place = PLACES[name];
  let at = lengths + TABLE_NAMES.length;
  for (let before = 0; before < place; before++) at += words[lengths + before] ?? 0;
  const length = words[lengths + place] ?? 0;
  return length > 0 ? new CLASSES[name](words.subarray(at, at + length)) : EMPTY[name];
}

/** Reads all packed tables. Their lengths precede them. */
export function readTables(words: Int32Array, lengths: number): FactTables {
  const tables = { ...EMPTY };
  let at = lengths + TABLE_NAMES.length;
  for (const [place, name] of TABLE_NAMES.entries()) {
    const length = words[lengths + place] ?? 0;
    if (length > 0) putTable(tables, name, words.subarray(at, at + length));
    at += length;
  }
  return tables;
}

function putTable<Name extends TableName>(tables: FactTables, name: Name, cells: Int32Array): void {
  tables[name] = new CLASSES[name](cells);
}

/** Shared empty tables: most files have no rows in most tables. */
const EMPTY: Readonly<FactTables> = emptyTables();
