/**
 * Statements that were compiled once are used again: the query builder hands in the same texts over and over, and
 * compiling them was a good part of a transaction's time.
 */
import type Database from "better-sqlite3";

/** Texts kept; lists of values inside a text make it vary. */
const MOST = 500;

/** The same database, whose `prepare` remembers. Only for callers that run a statement to its end at once. */
export function withStatementCache(sqlite: Database.Database): Database.Database {
  const known = new Map<string, Database.Statement>();
  const prepare = (text: string): Database.Statement => {
    const found = known.get(text);
    if (found) {
      // Whoever had it before may have asked for rows as arrays.
      if (found.reader) found.raw(false);
      return found;
    }
    const made = sqlite.prepare(text);
    if (known.size >= MOST) known.clear();
    known.set(text, made);
    return made;
  };
  return Object.create(sqlite, { prepare: { value: prepare } }) as Database.Database;
}
