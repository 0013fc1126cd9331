/**
 * The database's file. It exists completely or not at all, even if the machine stops while it is created. So an empty
 * file means lost content, and is never treated as a new instance.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import Database from "better-sqlite3";
import { Problem } from "../core/errors.ts";
import { RESTORE } from "./damage.ts";
import { newDatabase } from "./new-database.ts";

/** Creates the database when there is none. @throws Problem 409 `database_empty`, `database_incomplete`. */
export function ensureDatabase(path: string): void {
  const name = basename(path);
  if (existsSync(path)) {
    if (statSync(path).size > 0) return;
    throw new Problem(409, "database_empty", `The database ${name} is empty: its content is lost. ${RESTORE}`);
  }
  if (existsSync(`${path}-wal`))
    throw new Problem(409, "database_incomplete", `${name}-wal is there without its database ${name}. ${RESTORE}`);
  const draft = `${path}.new`;
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(draft + ending, { force: true });
  writeFileSync(draft, newDatabase(), { mode: 0o644 });
  const db = new Database(draft);
  try {
    // Nothing depends on the draft until it is renamed, so it is synced to disk once, as a whole.
    db.pragma("synchronous = OFF");
    db.pragma("journal_mode = MEMORY");
    db.prepare("UPDATE migrations SET applied_at = ?").run(new Date().toISOString());
    db.pragma("journal_mode = WAL");
  } finally {
    db.close();
  }
  bringToDisk(draft);
  renameSync(draft, path);
  bringToDisk(dirname(path));
}

function bringToDisk(path: string): void {
  const opened = openSync(path, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
