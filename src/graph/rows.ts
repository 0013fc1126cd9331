/**
 * Numbers of rows, each of a type of its own, so that a row of one table is not read in another. A row that is not there is
 * `NONE`, and nothing outside of this file says how it is written.
 */
declare const table: unique symbol;
type Row<Table extends string> = number & { readonly [table]: Table };

/** A node of a file's parsed tree. */
export type TreeNode = Row<"node">;
/** A place in a file's `strings`. */
export type NameRow = Row<"name">;
export type SymbolRow = Row<"symbol">;
export type ScopeRow = Row<"scope">;
export type BindingRow = Row<"binding">;
export type ImportRow = Row<"import">;
export type ExprRow = Row<"expr">;
export type TypeRow = Row<"type">;
declare const item: unique symbol;
/** Where a list of such rows begins. None is the empty list. */
export type ListOf<Item> = Row<"list"> & { readonly [item]: Item };
export type ExprList = ListOf<ExprRow>;
export type TypeList = ListOf<TypeRow>;
export type BindingList = ListOf<BindingRow>;
/** The rows of a list. */
export type Rows<Item> = Pick<
  readonly Item[],
  "length" | "entries" | "every" | "some" | typeof Symbol.iterator | number
>;

/** What a function makes of each of some rows. */
export function mapRows<Item, Made>(rows: Rows<Item>, make: (row: Item) => Made): Made[] {
  const made: Made[] = [];
  for (let i = 0; i < rows.length; i++) made.push(make(rows[i]!));
  return made;
}

/** Of every table. */
export type None = number & { readonly [table]: never; readonly [item]: never };

/** The row of that number: where rows are counted out, and nowhere else. */
export const rowAt = <R extends number>(number: number): R => number as R;
/** Integers that are rows, without a copy. */
export const asRows = <Item extends number>(numbers: Int32Array): Rows<Item> => numbers as unknown as Rows<Item>;
export const NONE: None = rowAt(-1);
/** The whole tree: its first node. */
export const ROOT: TreeNode = rowAt(0);
/** The scope of a whole file: its first row. */
export const FILE_SCOPE: ScopeRow = rowAt(0);
export const exists = (row: number): boolean => row >= 0;
export const isNone = (row: number): boolean => row < 0;
/** The row after one. */
export const rowAfter = <R extends number>(row: R): R => rowAt(row + 1);

/** The list of those who find none: one for all, as it never changes. */
export const NOTHING: readonly never[] = [];
