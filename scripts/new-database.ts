/** Creates the database that the executable contains for new instances; see src/store/new-database.ts. */
import Database from "better-sqlite3";
import { newDatabase } from "../src/store/new-database.ts";

/**
 * The database's bytes. The same migrations give the same bytes, because the vacuum removes the times at which they
 * were applied.
 */
function newDatabaseBytes(): Uint8Array {
  const db = new Database(newDatabase());
  try {
    db.exec("UPDATE migrations SET applied_at = ''; VACUUM");
    return db.serialize();
  } finally {
    db.close();
  }
}

/** The source of the module that replaces src/store/new-database.ts. */
export function newDatabaseModule(): string {
  const packed = Bun.zstdCompressSync(newDatabaseBytes(), { level: 19 });
  return `const packed = ${JSON.stringify(Buffer.from(packed).toString("base64"))};
    export const newDatabase = () => Bun.zstdDecompressSync(Buffer.from(packed, "base64"));`;
}
