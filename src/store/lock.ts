/**
 * One process per data folder. The lock is an exclusive transaction on a database file of its own: the kernel frees it
 * when the process dies, however it dies.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { Problem } from "../core/errors.ts";

/** Takes the folder. @returns a function that gives it back. @throws Problem 409 `data_in_use`. */
export function lockDataFolder(folder: string): () => void {
  const db = new Database(join(folder, "skep.lock"), { timeout: 0 });
  try {
    db.pragma("journal_mode = DELETE");
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY"))
      throw new Problem(
        409,
        "data_in_use",
        `Another skep works on ${folder}. Stop it, or name another folder with --data.`,
      );
    throw error;
  }
  return () => db.close();
}
