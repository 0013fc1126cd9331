/**
 * Migrates a database to this version: forward only, after a copy, in one transaction. Refuses a database that it
 * cannot migrate.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { Problem } from "../core/errors.ts";
import { STEPS_BEFORE_RELEASE } from "./migrations/before-release.ts";
import { MIGRATIONS, type Migration } from "./migrations/list.ts";

const COPIES_KEPT = 5;

interface Comparison {
  /** Migrations that the database lacks. */
  missing: Migration[];
  /** Why this version cannot use the database; null when it can. */
  refusal: Problem | null;
}

/** Compares the migrations applied to a database with those of this version, without changing it. */
export function compareMigrations(db: Database.Database, migrations: readonly Migration[] = MIGRATIONS): Comparison {
  const applied = new Set(db.prepare<[], string>("SELECT name FROM migrations").pluck().all());
  const known = new Set(migrations.map(({ name }) => name));
  const steps = STEPS_BEFORE_RELEASE.filter((name) => applied.delete(name));
  if (steps.length > 0 && steps.length < STEPS_BEFORE_RELEASE.length) return { missing: [], refusal: beforeRelease() };
  if (steps.length > 0) applied.add("0001-schema");
  const foreign = [...applied].filter((name) => !known.has(name));
  const missing = migrations.filter(({ name }) => !applied.has(name));
  return { missing, refusal: foreign.length > 0 ? createNewerProblem(foreign) : null };
}

/**
 * Applies the missing migrations.
 * @param copies folder for the copy that is made before an existing database changes; null: no copy.
 * @returns the names of the applied migrations.
 * @throws Problem 409 `database_newer` when the database has a migration that this version does not know,
 *   `database_too_old` when a build from before the first release wrote it and not all of its steps were applied.
 */
export function migrate(
  db: Database.Database,
  copies: string | null,
  migrations: readonly Migration[] = MIGRATIONS,
): string[] {
  db.exec(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT, WITHOUT ROWID",
  );
  const { missing, refusal } = compareMigrations(db, migrations);
  if (refusal) throw refusal;
  if (missing.length === 0) return [];
  const existing = db.prepare("SELECT 1 FROM migrations LIMIT 1").get() !== undefined;
  if (existing && copies !== null) copyBefore(db, copies, missing[0]!.name);
  db.transaction(() => {
    const remember = db.prepare("INSERT INTO migrations (name, applied_at) VALUES (?, ?)");
    for (const { name, sql } of missing) {
      db.exec(sql);
      remember.run(name, new Date().toISOString());
    }
  }).immediate();
  return missing.map((migration) => migration.name);
}

const createNewerProblem = (names: string[]): Problem =>
  new Problem(
    409,
    "database_newer",
    `The data folder was written by a newer skep (${names.join(", ")}). Use that version, or restore a backup.`,
  );

const beforeRelease = (): Problem =>
  new Problem(
    409,
    "database_too_old",
    "The data folder was written by a build from before the first release, and this version cannot read it. " +
      "Nothing in it was changed. Use the build that wrote it, or start with an empty data folder.",
  );

function copyBefore(db: Database.Database, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `before-${name}-${Date.now()}.db`);
  db.prepare("VACUUM INTO ?").run(path);
  const old = readdirSync(folder)
    .filter((file) => file.startsWith("before-"))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const file of old.slice(0, -COPIES_KEPT)) rmSync(join(folder, file));
}
