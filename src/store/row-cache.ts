/**
 * Caches what was made from rows that seldom change, for lists that are read often. Reading a row with many columns
 * takes several times as long as reading its id and its version, a number that the database increases with each change
 * of the row.
 */
import type Database from "better-sqlite3";

/**
 * @param most limit for the characters of JSON in the cache; one row may take a hundredth of it. The oldest entries are
 *   dropped first.
 */
export function createRowCache<T extends object>(sqlite: Pick<Database.Database, "inTransaction">, most: number) {
  const kept = new Map<string, { version: number; value: T; size: number }>();
  let total = 0;
  const forget = (id: string): void => {
    total -= kept.get(id)?.size ?? 0;
    kept.delete(id);
  };
  return {
    /** The cached value, if the row still has this version. */
    find(id: string, version: number): T | undefined {
      const found = kept.get(id);
      return found?.version === version ? found.value : undefined;
    },
    /** Caches a value, except inside a transaction, which may be rolled back. */
    keep(id: string, version: number, value: T): void {
      const size = JSON.stringify(value).length;
      if (sqlite.inTransaction || size > most / 100) return;
      forget(id);
      // All callers share the value.
      kept.set(id, { version, value: Object.freeze(value), size });
      total += size;
      for (const first of kept.keys()) {
        if (total <= most) return;
        forget(first);
      }
    },
  };
}
