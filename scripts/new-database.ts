/** Makes the database that the executable brings for new instances: what src/store/new-database.ts says. */
import Database from "better-sqlite3";
import { newDatabase } from "../src/store/new-database.ts";

/** Its bytes: the same for the same migrations, as the vacuum leaves nothing of the times at which they were applied. */
function newDatabaseBytes(): Uint8Array {
  const db = new Database(newDatabase());
  try {
    db.exec("UPDATE migrations SET applied_at = ''; VACUUM");
    return db.serialize();
  } finally {
    db.close();
  }
}

/** The module in place of src/store/new-database.ts. */
export function newDatabaseModule(): string {
  const packed = Bun.zstdCompressSync(newDatabaseBytes(), { level: 19 });
  return `const packed = ${JSON.stringify(Buffer.from(packed).toString("base64"))};
    export const newDatabase = () => Bun.zstdDecompressSync(Buffer.from(packed, "base64"));`;
}
