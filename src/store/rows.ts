/**
 * Reads and writes the rows of one table: `store.rows(table)`. Everything else uses `store.statement<Row>(sql)`.
 * `README.md` says when to use which, and why statements stay compiled.
 */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Condition, seekBelow } from "./reader.ts";
import type { Prepare } from "./statement-cache.ts";

/** Values of columns. Null: the column is empty. Undefined: any value. */
type Values<T extends SQLiteTable> = { [K in keyof T["$inferSelect"]]?: T["$inferSelect"][K] | undefined };

/**
 * Selects rows by values of columns, or by a condition such as that of `buildReadCondition`. When there are several, all
 * must hold.
 */
export type Where<T extends SQLiteTable> = Values<T> | Condition;

interface Order {
  /** Columns in the form they have after `ORDER BY`: `id DESC`. */
  order?: string;
  limit?: number;
}

type Rows<T extends SQLiteTable> = ReturnType<typeof createRows<T>>;

/** The type of `store.rows`. A call inspects every column, so call it once, when a service is created. */
export type RowsOf = <T extends SQLiteTable>(table: T) => Rows<T>;

const isCondition = <T extends SQLiteTable>(where: Where<T>): where is NonNullable<Condition> => Array.isArray(where);

export function createRows<T extends SQLiteTable>(statement: Prepare, table: T) {
  const name = getTableName(table);
  const columns: Record<string, SQLiteColumn> = getTableColumns(table);
  const names = Object.keys(columns);
  const decoded = names.filter((key) => /^(json|boolean)$/.test(columns[key]!.dataType));
  const selected = names.map((key) => `"${columns[key]!.name}" AS "${key}"`).join(", ");
  const select = `SELECT ${selected} FROM ${name}`;

  const encode = (key: string, value: unknown): unknown =>
    value === null ? null : columns[key]!.mapToDriverValue(value);
  const decode = (row: Record<string, unknown>): T["$inferSelect"] => {
    for (const key of decoded) if (row[key] !== null) row[key] = columns[key]!.mapFromDriverValue(row[key]);
    return row;
  };
  /**
   * Column names and stored values of the given members. Members that are not columns are skipped: an object may hold
   * more than its row.
   */
  function toPairs(values: object): [column: string, value: unknown][] {
    const pairs: [string, unknown][] = [];
    for (const [key, value] of Object.entries(values))
      if (value !== undefined && Object.hasOwn(columns, key)) pairs.push([columns[key]!.name, encode(key, value)]);
    return pairs;
  }
  /** The condition's text, beginning with ` WHERE` if there is any condition, and its values. */
  function whereOf(all: readonly Where<T>[]): [text: string, values: unknown[]] {
    const texts: string[] = [];
    const values: unknown[] = [];
    for (const where of all) {
      if (where === undefined) continue;
      if (isCondition(where)) {
        texts.push(where[0]);
        values.push(...where.slice(1));
        continue;
      }
      // Ignoring an unknown column would select more rows than intended.
      const odd = Object.keys(where).find((key) => !Object.hasOwn(columns, key));
      if (odd !== undefined) throw new Error(`${name} has no column ${odd}`);
      for (const [column, value] of toPairs(where)) {
        texts.push(`${name}."${column}" ${value === null ? "IS NULL" : "= ?"}`);
        if (value !== null) values.push(value);
      }
    }
    return [texts.length > 0 ? ` WHERE ${texts.join(" AND ")}` : "", values];
  }
  /** Like `whereOf`, but refuses to select every row: a value that is undefined by mistake must not mean all rows. */
  function someOf(all: readonly Where<T>[]): [text: string, values: unknown[]] {
    const where = whereOf(all);
    if (where[0] === "") throw new Error(`no condition says which rows of ${name} are meant`);
    return where;
  }
  const buildInsert = (row: T["$inferInsert"]) => {
    const entries = toPairs(row);
    const places = entries.map(() => "?").join(", ");
    const text = `INSERT INTO ${name} (${entries.map(([column]) => `"${column}"`).join(", ")}) VALUES (${places})`;
    return { text, entries, values: entries.map(([, value]) => value) };
  };
  function list(where: readonly Where<T>[], { order, limit }: Order = {}): T["$inferSelect"][] {
    const [text, values] = whereOf(where);
    const end = `${order === undefined ? "" : ` ORDER BY ${order}`}${limit === undefined ? "" : " LIMIT ?"}`;
    const rows = statement<Record<string, unknown>>(`${select}${text}${end}`);
    return rows.all(...values, ...(limit === undefined ? [] : [limit])).map(decode);
  }

  return {
    find(...where: Where<T>[]): T["$inferSelect"] | undefined {
      const [text, values] = whereOf(where);
      const row = statement<Record<string, unknown>>(`${select}${text} LIMIT 1`).get(...values);
      return row && decode(row);
    },
    list,
    /**
     * A page of rows, newest first, for tables whose ids grow with time; one row more than the limit when there is a
     * next page.
     */
    page: (
      where: readonly Where<T>[],
      { after, limit }: { after: string | null; limit: number },
    ): T["$inferSelect"][] => list([...where, seekBelow("id", { after })], { order: "id DESC", limit: limit + 1 }),
    count(...where: Where<T>[]): number {
      const [text, values] = whereOf(where);
      return statement<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}${text}`).get(...values)!.rows;
    },
    insert(row: T["$inferInsert"]): void {
      const { text, values } = buildInsert(row);
      statement(text).run(...values);
    },
    /** Inserts the row. @returns the row as it would be read, with empty columns and defaults filled in. */
    add(row: T["$inferInsert"]): T["$inferSelect"] {
      const { text, values } = buildInsert(row);
      const added = statement<Record<string, unknown>>(`${text} RETURNING ${selected}`).get(...values);
      if (!added) throw new Error(`nothing was inserted into ${name}`);
      return decode(added);
    },
    /** Inserts the row unless there is one with the same key. @returns whether it was inserted. */
    insertIfNew(row: T["$inferInsert"]): boolean {
      const { text, values } = buildInsert(row);
      return statement(`${text} ON CONFLICT DO NOTHING`).run(...values).changes > 0;
    },
    /** Inserts the row, or updates the row that has the same values in the key columns. */
    put(row: T["$inferInsert"], key: readonly (keyof T["$inferSelect"] & string)[]): void {
      const { text, entries, values } = buildInsert(row);
      const keys = key.map((one) => columns[one]!.name);
      const set = entries.flatMap(([column]) => (keys.includes(column) ? [] : [`"${column}" = excluded."${column}"`]));
      const conflict = `ON CONFLICT (${keys.join(", ")}) DO ${set.length > 0 ? `UPDATE SET ${set.join(", ")}` : "NOTHING"}`;
      statement(`${text} ${conflict}`).run(...values);
    },
    /**
     * Updates rows; needs at least one condition. @param change undefined members are unchanged. @returns how many rows
     * changed.
     */
    update(change: Values<T>, ...where: Where<T>[]): number {
      const entries = toPairs(change);
      if (entries.length === 0) return 0;
      const [text, values] = someOf(where);
      const set = entries.map(([column]) => `"${column}" = ?`).join(", ");
      return statement(`UPDATE ${name} SET ${set}${text}`).run(...entries.map(([, value]) => value), ...values).changes;
    },
    /** Removes rows; needs at least one condition. @returns how many rows were removed. */
    remove(...where: Where<T>[]): number {
      const [text, values] = someOf(where);
      return statement(`DELETE FROM ${name}${text}`).run(...values).changes;
    },
  };
}
