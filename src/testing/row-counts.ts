/** Counts the rows of each table in a server's data, which a refused request must not change. */
import { join } from "node:path";
import Database from "better-sqlite3";

/** Tables that the server writes at any time by itself: its answers by the minute, and workspace sizes after work. */
const BY_ITSELF = new Set(["api_usage", "workspace_sizes"]);

/** The number of rows by table, in the data folder of a server that may be running. */
export function countRows(data: string): Record<string, number> {
  const db = new Database(join(data, "skep.db"), { readonly: true });
  try {
    const tables = db
      .prepare<unknown[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all()
      .filter((table) => !BY_ITSELF.has(table));
    const count = (table: string) => db.prepare<unknown[], number>(`SELECT count(*) FROM "${table}"`).pluck().get();
    return Object.fromEntries(tables.map((table) => [table, count(table) ?? 0]));
  } finally {
    db.close();
  }
}
