/**
 * Caches compiled statements. The same texts are prepared over and over, and compiling them took a considerable part of
 * a transaction's time.
 */
import type Database from "better-sqlite3";

/** The most texts in the cache; texts vary when they contain lists of values. */
const MOST = 500;

/** @typeParam Row type of the selected rows. It is declared here because nothing can check it. */
export type Prepare = <Row = unknown>(text: string) => Database.Statement<unknown[], Row>;

/** A `prepare` with a cache. Only for callers that run a statement to its end immediately. */
export function createStatementCache(sqlite: Database.Database): Prepare {
  const known = new Map<string, Database.Statement>();
  return <Row>(text: string) => {
    const found = known.get(text);
    if (found) {
      // The last caller may have switched the statement to arrays or single values.
      if (found.reader) found.raw(false).pluck(false);
      return found as Database.Statement<unknown[], Row>;
    }
    const made = sqlite.prepare<unknown[], Row>(text);
    if (known.size >= MOST) known.clear();
    known.set(text, made);
    return made;
  };
}
