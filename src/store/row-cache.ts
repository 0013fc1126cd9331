/**
 * What was made from rows that seldom change, for lists that are asked for often: reading a row of many columns takes
 * several times as long as its id and its version, a number that the database raises with each change of the row.
 */
import type Database from "better-sqlite3";

/** @param most characters of JSON that are kept altogether, a hundredth of them of one row; what was kept first goes first. */
export function createRowCache<T extends object>(sqlite: Pick<Database.Database, "inTransaction">, most: number) {
  const kept = new Map<string, { version: number; value: T; size: number }>();
  let total = 0;
  const forget = (id: string): void => {
    total -= kept.get(id)?.size ?? 0;
    kept.delete(id);
  };
  return {
    /** What was kept of the row, if it still has that version. */
    find(id: string, version: number): T | undefined {
      const found = kept.get(id);
      return found?.version === version ? found.value : undefined;
    },
    /** Not within a transaction, which may be undone. */
    keep(id: string, version: number, value: T): void {
      const size = JSON.stringify(value).length;
      if (sqlite.inTransaction || size > most / 100) return;
      forget(id);
      // Those who are given it share it.
      kept.set(id, { version, value: Object.freeze(value), size });
      total += size;
      for (const first of kept.keys()) {
        if (total <= most) return;
        forget(first);
      }
    },
  };
}
