/** Brings a database to this version: forward only, after a copy, all or nothing. Refuses a newer one. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { Problem } from "../core/errors.ts";
import { MIGRATIONS, type Migration } from "./migrations/list.ts";

const COPIES_KEPT = 5;

/**
 * Applies what is missing.
 * @param copies folder for the copy made before an existing database is changed; null makes none.
 * @returns the names applied.
 * @throws Problem 409 `database_newer` when the database knows a migration that this binary does not.
 */
export function migrate(
  db: Database.Database,
  copies: string | null,
  migrations: readonly Migration[] = MIGRATIONS,
): string[] {
  db.exec(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT, WITHOUT ROWID",
  );
  const applied = new Set(db.prepare<[], string>("SELECT name FROM migrations").pluck().all());
  const known = new Set(migrations.map((migration) => migration.name));
  const foreign = [...applied].filter((name) => !known.has(name));
  if (foreign.length > 0)
    throw new Problem(
      409,
      "database_newer",
      `The data folder was written by a newer skep (${foreign.join(", ")}). Use that version, or restore a backup.`,
    );
  const missing = migrations.filter((migration) => !applied.has(migration.name));
  if (missing.length === 0) return [];
  if (applied.size > 0 && copies !== null) copyBefore(db, copies, missing[0]!.name);
  db.transaction(() => {
    const remember = db.prepare("INSERT INTO migrations (name, applied_at) VALUES (?, ?)");
    for (const { name, sql } of missing) {
      db.exec(sql);
      remember.run(name, new Date().toISOString());
    }
  }).immediate();
  return missing.map((migration) => migration.name);
}

function copyBefore(db: Database.Database, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `before-${name}-${Date.now()}.db`);
  db.prepare("VACUUM INTO ?").run(path);
  const old = readdirSync(folder)
    .filter((file) => file.startsWith("before-"))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const file of old.slice(0, -COPIES_KEPT)) rmSync(join(folder, file));
}
