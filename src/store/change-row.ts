/** Changes rows by an object whose members a request chose: an empty one is no change, which SQL has no words for. */
import type { SQL } from "drizzle-orm";
import type { SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Db } from "./store.ts";

/** @param change members that are undefined are left alone. */
export function changeRow<T extends SQLiteTable>(
  db: Db,
  table: T,
  change: SQLiteUpdateSetSource<T>,
  where: SQL | undefined,
): void {
  if (Object.values(change).some((value) => value !== undefined)) db.update(table).set(change).where(where).run();
}
