/** Removes old rows in pieces, so that no request waits for all of them. */
import { LIMITS } from "../core/limits.ts";
import type { Store } from "./store.ts";

/**
 * Removes at most `LIMITS.pruneRows` rows of a table that has a key `id`.
 * @param condition SQL with one `?` for `value`.
 * @returns whether there may be more.
 */
export function removeOld(store: Store, table: string, condition: string, value: string): boolean {
  const remove = store.sqlite.prepare(
    `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${condition} LIMIT ${LIMITS.pruneRows})`,
  );
  return store.write(() => remove.run(value).changes) === LIMITS.pruneRows;
}
