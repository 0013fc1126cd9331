/**
 * Row numbers, with a type of its own for each table, so that a row of one table is not used in another. A missing row
 * is `NONE`; only this file knows the number that stands for it.
 */
declare const table: unique symbol;
type Row<Table extends string> = number & { readonly [table]: Table };

/** A node of a file's parsed tree. */
export type TreeNode = Row<"node">;
/** An index into a file's `strings`. */
export type NameRow = Row<"name">;
export type SymbolRow = Row<"symbol">;
export type ScopeRow = Row<"scope">;
export type BindingRow = Row<"binding">;
export type ImportRow = Row<"import">;
export type ExprRow = Row<"expr">;
export type TypeRow = Row<"type">;
declare const item: unique symbol;
/** Where a list of rows of this type begins. `NONE` is the empty list. */
export type ListOf<Item> = Row<"list"> & { readonly [item]: Item };
export type ExprList = ListOf<ExprRow>;
export type TypeList = ListOf<TypeRow>;
export type BindingList = ListOf<BindingRow>;
/** The rows of a list. */
export type Rows<Item> = Pick<
  readonly Item[],
  "length" | "entries" | "every" | "some" | typeof Symbol.iterator | number
>;

/** Like `Array.map`, for the rows of a list. */
export function mapRows<Item, Made>(rows: Rows<Item>, make: (row: Item) => Made): Made[] {
  const made: Made[] = [];
  for (let i = 0; i < rows.length; i++) made.push(make(rows[i]!));
  return made;
}

/** The type of `NONE`: it fits every table. */
export type None = number & { readonly [table]: never; readonly [item]: never };

/** Turns a number into a row. Only for code that counts rows. */
export const rowAt = <R extends number>(number: number): R => number as R;
/** Reads integers as rows, without a copy. */
export const asRows = <Item extends number>(numbers: Int32Array): Rows<Item> => numbers as unknown as Rows<Item>;
export const NONE: None = rowAt(-1);
/** The first node of a parsed tree: it stands for the whole tree. */
export const ROOT: TreeNode = rowAt(0);
/** The scope of a whole file: the first scope row. */
export const FILE_SCOPE: ScopeRow = rowAt(0);
export const exists = (row: number): boolean => row >= 0;
export const isNone = (row: number): boolean => row < 0;
/** The row that follows this one. */
export const rowAfter = <R extends number>(row: R): R => rowAt(row + 1);

/** A shared empty list. It never changes, so all callers can have the same one. */
export const NOTHING: readonly never[] = [];
