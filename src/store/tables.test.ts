/** The tables in the code are those that the migrations create, column by column. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Glob } from "bun";
import { is } from "drizzle-orm";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrate } from "./migrate.ts";

interface Column {
  name: string;
  type: string;
  notNull: boolean;
  /** Position in the primary key, from 1; 0 when not part of it. */
  key: number;
}

const folder = join(import.meta.dir, "tables");
const exported: unknown[] = [];
for (const file of new Glob("*.ts").scanSync(folder)) exported.push(...Object.values(await import(join(folder, file))));
const tables = exported.filter((one): one is SQLiteTable => is(one, SQLiteTable)).map((table) => getTableConfig(table));

const sqlite = new Database(":memory:");
migrate(sqlite, null);
const made = sqlite
  .prepare<unknown[], string>("SELECT name FROM sqlite_master WHERE type = 'table'")
  .pluck()
  .all()
  .filter((name) => !name.startsWith("sqlite_"));
/**
 * No migration creates the table of migrations itself. The indexes of memories and documents are only used in SQL, for
 * full-text search.
 */
const BY_HAND = ["migrations", ...made.filter((name) => /^(memory|document)_|_trigrams/.test(name))];

function inDatabase(table: string): Column[] {
  const rows = sqlite.prepare(`SELECT name, type, "notnull", pk FROM pragma_table_info(?)`).all(table);
  return (rows as { name: string; type: string; notnull: number; pk: number }[])
    .map(({ name, type, notnull, pk }) => ({ name, type, notNull: notnull === 1 || pk > 0, key: pk }))
    .sort(byName);
}
function inCode({ columns, primaryKeys }: (typeof tables)[number]): Column[] {
  const joined = primaryKeys.flatMap((key) => key.columns.map(({ name }) => name));
  const keyOf = ({ name, primary }: SQLiteColumn) => (primary ? 1 : joined.indexOf(name) + 1);
  return columns
    .map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      notNull: column.notNull,
      key: keyOf(column),
    }))
    .sort(byName);
}
const byName = (a: Column, b: Column) => a.name.localeCompare(b.name);

describe("tables", () => {
  test("every table of the database is known to the code, and no other", () => {
    const known = [...tables.map(({ name }) => name), ...BY_HAND];
    expect([...new Set(known)].sort()).toEqual(made.sort());
    expect(new Set(tables.map(({ name }) => name)).size).toBe(tables.length);
  });

  test.each(tables.map((table) => [table.name, table] as const))(
    "%s: same columns, types, keys and nulls",
    (name, table) => {
      expect(inCode(table)).toEqual(inDatabase(name));
    },
  );

  test("indexes are said by the migrations alone", () => {
    expect(tables.filter(({ indexes }) => indexes.length > 0).map(({ name }) => name)).toEqual([]);
  });

  test("a reference in the code is one in the database, with what a deletion does", () => {
    const differing = tables.flatMap((table) => {
      const rows = sqlite.prepare(`SELECT "from", "table", on_delete FROM pragma_foreign_key_list(?)`).all(table.name);
      const stored = (rows as { from: string; table: string; on_delete: string }[])
        .map(({ from, table: to, on_delete }) => `${table.name}.${from} → ${to} ${on_delete.toLowerCase()}`)
        .sort();
      const written = table.foreignKeys
        .map((key) => {
          const { columns, foreignTable } = key.reference();
          return `${table.name}.${columns[0]?.name} → ${getTableConfig(foreignTable).name} ${key.onDelete ?? "no action"}`;
        })
        .sort();
      return JSON.stringify(stored) === JSON.stringify(written) ? [] : [{ stored, written }];
    });
    expect(differing).toEqual([]);
  });
});
