/** Makes the database that the executable brings for new instances: what src/store/new-database.ts says. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { makeEmpty } from "../src/store/database-file.ts";

/** Its bytes: the same for the same migrations, as the vacuum leaves nothing of the times at which they were applied. */
function newDatabaseBytes(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "skep-new-database-"));
  try {
    const path = join(folder, "new.db");
    const db = new Database(path);
    makeEmpty(db);
    db.exec("UPDATE migrations SET applied_at = ''; VACUUM");
    db.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The module in place of src/store/new-database.ts. */
export function newDatabaseModule(): string {
  const packed = Bun.zstdCompressSync(newDatabaseBytes(), { level: 19 });
  return `const packed = ${JSON.stringify(Buffer.from(packed).toString("base64"))};
    export const newDatabase = () => Bun.zstdDecompressSync(Buffer.from(packed, "base64"));`;
}
