/**
 * Rows of a table by conditions of our own, for lists that are asked for often: the query builder writes the text of a
 * query again for each request, and rebuilds each row, which takes several times as long as SQLite does.
 */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { lazy } from "../core/lazy.ts";
import type { Prepare } from "./statement-cache.ts";

type Value = string | number | null;

/** A condition with `?` for its values: `["runs.status = ?", "failed"]`. Undefined: none. */
export type Condition = readonly [sql: string, ...values: Value[]] | undefined;

export interface Reader<Row> {
  /** @param rest what follows `SELECT … FROM table`, with `?` for the values. */
  all(rest: string, ...values: Value[]): Row[];
  /** The same `FROM first CROSS JOIN table`: the rows come as `first`, which is read first, names them. */
  joined(first: string, rest: string, ...values: Value[]): Row[];
}

/** @param names the columns to read, in the table's own names. */
export function createReader<T extends SQLiteTable, K extends keyof T["$inferSelect"] & string>(
  statement: Prepare,
  table: T,
  names: readonly K[],
): Reader<Pick<T["$inferSelect"], K>> {
  const made = lazy(() => {
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
    joined: (first, rest, ...values) => read(`${made().select}${first} CROSS JOIN ${made().from} ${rest}`, values),
  };
}

/** `WHERE` of all conditions that are there, and their values. */
export function allOf(...conditions: Condition[]): { where: string; values: Value[] } {
  const there = conditions.filter((one) => one !== undefined);
  return {
    where: there.length > 0 ? `WHERE ${there.map(([sql]) => sql).join(" AND ")}` : "",
    values: there.flatMap(([, ...values]) => values),
  };
}

/** What comes after the page's last row where the order is descending; ascending: `above`. */
export const below = (column: string, { after }: { after: string | null }): Condition =>
  after === null ? undefined : [`${column} < ?`, after];
export const above = (column: string, { after }: { after: string | null }): Condition =>
  after === null ? undefined : [`${column} > ?`, after];

/** `column IN (?, …)`. */
export const within = (column: string, values: readonly Value[]): Condition => [
  `${column} IN (${values.map(() => "?").join(", ")})`,
  ...values,
];

/** The same with all values as one parameter, so that the statement's text does not depend on their number. */
export const among = (column: string, values: readonly string[]): Condition => [
  `${column} IN (SELECT value FROM json_each(?))`,
  JSON.stringify(values),
];

/**
 * Whether a column holds a text, A–Z in either case. Not by LIKE: that compares character by character at every position,
 * so that a text made for it takes its length times the pattern's; `instr` compares bytes at once.
 */
export const contains = (column: string, text: string): [sql: string, value: string] => [
  `instr(lower(${column}), ?) > 0`,
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
];
