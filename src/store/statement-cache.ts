/**
 * Statements that were compiled once are used again: the query builder hands in the same texts over and over, and
 * compiling them was a good part of a transaction's time.
 */
import type Database from "better-sqlite3";

/** Texts kept; lists of values inside a text make it vary. */
const MOST = 500;

/** @typeParam Row what the text selects: the one place that says so, since nothing can check it. */
export type Prepare = <Row = unknown>(text: string) => Database.Statement<unknown[], Row>;

/** A `prepare` that remembers. Only for callers that run a statement to its end at once. */
export function createStatementCache(sqlite: Database.Database): Prepare {
  const known = new Map<string, Database.Statement>();
  return <Row>(text: string) => {
    const found = known.get(text);
    if (found) {
      // The last caller may have asked for rows as arrays or for single values.
      if (found.reader) found.raw(false).pluck(false);
      return found as Database.Statement<unknown[], Row>;
    }
    const made = sqlite.prepare<unknown[], Row>(text);
    if (known.size >= MOST) known.clear();
    known.set(text, made);
    return made;
  };
}
