/**
 * Reads rows of a table with conditions in SQL, for lists that are read often. A query builder would write the query's
 * text anew for each request and rebuild each row, which takes several times as long as SQLite itself.
 */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { memoize } from "../core/lazy.ts";
import type { Prepare } from "./statement-cache.ts";

type Value = string | number | null;

/** An SQL condition with `?` for its values: `["runs.status = ?", "failed"]`. Undefined: no condition. */
export type Condition = readonly [sql: string, ...values: Value[]] | undefined;

export interface Reader<Row> {
  /** @param rest the SQL after `SELECT … FROM table`, with `?` for the values. */
  all(rest: string, ...values: Value[]): Row[];
  /** Like `all`, but `FROM first CROSS JOIN table`: `first` is read first, and the rows come in its order. */
  join(first: string, rest: string, ...values: Value[]): Row[];
}

/** @param names the columns to read, by the table's own names. */
export function createReader<T extends SQLiteTable, K extends keyof T["$inferSelect"] & string>(
  statement: Prepare,
  table: T,
  names: readonly K[],
): Reader<Pick<T["$inferSelect"], K>> {
  const made = memoize(() => {
    const columns = getTableColumns(table);
    const from = getTableName(table);
    return {
      select: `SELECT ${names.map((name) => `${from}."${columns[name]!.name}"`).join(", ")} FROM `,
      from,
      decoded: names.filter((name) => /^(json|boolean)$/.test(columns[name]!.dataType)),
      columns,
    };
  });
  const read = (text: string, values: Value[]) => {
    const { decoded, columns } = made();
    const rows = statement<Record<string, unknown>>(text).all(...values);
    for (const row of rows)
      for (const name of decoded) if (row[name] !== null) row[name] = columns[name]!.mapFromDriverValue(row[name]);
    return rows as Pick<T["$inferSelect"], K>[];
  };
  return {
    all: (rest, ...values) => read(`${made().select}${made().from} ${rest}`, values),
    join: (first, rest, ...values) => read(`${made().select}${first} CROSS JOIN ${made().from} ${rest}`, values),
  };
}

/** A `WHERE` clause of all defined conditions, and their values. */
export function allOf(...conditions: Condition[]): { where: string; values: Value[] } {
  const there = conditions.filter((one) => one !== undefined);
  return {
    where: there.length > 0 ? `WHERE ${there.map(([sql]) => sql).join(" AND ")}` : "",
    values: there.flatMap(([, ...values]) => values),
  };
}

/** Rows after the page's last row in descending order; for ascending order use `seekAbove`. */
export const seekBelow = (column: string, { after }: { after: string | null }): Condition =>
  after === null ? undefined : [`${column} < ?`, after];
export const seekAbove = (column: string, { after }: { after: string | null }): Condition =>
  after === null ? undefined : [`${column} > ?`, after];

/** `column IN (?, …)`. */
export const matchIn = (column: string, values: readonly Value[]): Condition => [
  `${column} IN (${values.map(() => "?").join(", ")})`,
  ...values,
];

/** Like `matchIn`, with all values in one parameter, so that the statement's text does not depend on their number. */
export const matchInJson = (column: string, values: readonly string[]): Condition => [
  `${column} IN (SELECT value FROM json_each(?))`,
  JSON.stringify(values),
];

/**
 * Whether a column contains a text, ignoring the case of A–Z. It avoids LIKE, which compares character by character at
 * every position: a text made for it costs its length times the pattern's. `instr` compares bytes.
 */
export const contains = (column: string, text: string): [sql: string, value: string] => [
  `instr(lower(${column}), ?) > 0`,
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
];
