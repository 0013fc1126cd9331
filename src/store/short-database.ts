import Database from "better-sqlite3";

/** Opens a database that is closed at the end of the block in which `using` declares it. */
export function shortDatabase(path: string, options?: Database.Options): Database.Database & Disposable {
  const db = new Database(path, options);
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() });
}
