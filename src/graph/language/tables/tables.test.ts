/** Facts are read and written by column names. Only a table knows where a column is in its rows. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FactTable } from "./fact-table.ts";
import { factTables, TABLE_NAMES } from "./tables.ts";

const ROOM = join(import.meta.dir, "../..");

test("no file but the tables themselves sees the integers of a row", () => {
  const paths = (readdirSync(ROOM, { recursive: true }) as string[]).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("fixtures"),
  );
  const seeing = paths.filter((path) => /\.cells\b|\bcells \}/.test(readFileSync(join(ROOM, path), "utf8")));
  expect(seeing.filter((path) => !path.startsWith("language/tables/"))).toEqual([]);
});

test("no table gives away the places of its columns", () => {
  const tables = readdirSync(import.meta.dir).filter((path) => !path.endsWith(".test.ts"));
  const giving = tables.filter((path) =>
    /export const [A-Z]+ = \{/.test(readFileSync(join(import.meta.dir, path), "utf8")),
  );
  expect(giving).toEqual([]);
});

/** Names of a table's own methods, apart from those that all tables have. */
function readsOf(table: FactTable): string[] {
  const own = (part: object): string[] =>
    part === FactTable.prototype ? [] : [...Object.getOwnPropertyNames(part), ...own(Object.getPrototypeOf(part))];
  return own(Object.getPrototypeOf(table));
}

test("each read of a table gives a column of its own row, and what is left out of a new row is -1", () => {
  const tables = factTables(() => new Int32Array(0));
  for (const name of TABLE_NAMES) {
    const table = tables[name];
    table.add();
    expect(table.add(...Array.from({ length: table.size }, (_, column) => 10 + column))).toBe(1);
    table.add();
    expect(table.length).toBe(3);
    const reads = readsOf(table).filter(
      (read) => !/^(constructor|add|isCalled|column|items|become|numberWithout|set\w*)$/.test(read),
    );
    for (const read of reads) {
      const values = [0, 1, 2].map((row) => (table as unknown as Record<string, (row: number) => number>)[read]!(row));
      expect([name, read, values[0], values[2]]).toEqual([name, read, -1, -1]);
      expect(values[1]).toBeWithin(10, 10 + table.size);
    }
    const columns = reads.map((read) => (table as unknown as Record<string, (row: number) => number>)[read]!(1));
    expect(new Set(columns).size).toBe(name === "lists" ? 0 : table.size);
    expect(table.toCells()).toHaveLength(3 * table.size);
  }
});
