/** Removing many rows without keeping requests waiting. */
import type { Store } from "./store.ts";

/** Rows that one transaction removes: a few milliseconds of the server's thread. */
export const REMOVED_AT_ONCE = 100;

export interface RowsToRemove {
  from: string;
  /** Columns that tell rows apart, `a, b`; `id` when absent. */
  key?: string;
  /** With `?` for the values. */
  where: string;
}

/**
 * Removes the rows that the condition names, some in each transaction and with turns for other work between them, until
 * none is left or the signal aborts. The first ones are gone when the call returns its promise.
 */
export async function removeRows(
  { statement, write }: Pick<Store, "statement" | "write">,
  { from, key = "id", where }: RowsToRemove,
  values: readonly (string | number)[],
  signal?: AbortSignal,
): Promise<void> {
  const some = statement(
    `DELETE FROM ${from} WHERE (${key}) IN (SELECT ${key} FROM ${from} WHERE ${where} LIMIT ${REMOVED_AT_ONCE})`,
  );
  while (write(() => some.run(...values).changes) > 0) {
    await new Promise((next) => setImmediate(next));
    if (signal?.aborted) return;
  }
}
