/** Checks of the data folder for `skep doctor`: rights, free space, keys, database. They only read. */
import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { attempt } from "../../core/attempt.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { compareMigrations } from "../../store/migrate.ts";
import { MIGRATIONS } from "../../store/migrations/list.ts";
import { exposedPaths } from "../../store/private-folder.ts";
import { databasePath } from "../../store/store.ts";
import { CONTAINERS_USED } from "../../store/tables/foundation.ts";
import { type Finding, fail, formatAmount, pass, warn } from "./model.ts";

const OTHERS = 0o077;
const readMode = (path: string): number => statSync(path).mode & 0o777;
const NAMED = 5;
const RESTORE =
  "stop the server, keep the file, and restore a copy of skep.db (the data folder's backups, or your own)";
const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path itself, or the nearest folder above it that exists. */
function findNearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearest(dirname(path));
}

function remedyFor(data: string): string {
  const { uid } = statSync(data);
  const isOwn = uid === process.getuid?.();
  return `${isOwn ? "give its owner the rights" : `run Skep as user ${uid}`}, or name another folder with --data`;
}

export function checkFolder(data: string): Finding {
  const there = findNearest(data);
  if (!isWritable(there))
    return fail(
      "data folder",
      `${data} cannot be written by this user`,
      there === data ? remedyFor(data) : "name a folder with --data",
    );
  if (there !== data) return pass("data folder", `${data} is made at the first start`);
  if (!statSync(data).isDirectory()) return fail("data folder", `${data} is not a folder`, "name another with --data");
  const exposed = exposedPaths(data);
  if (exposed.length > 0)
    return warn(
      "data folder",
      `other users have rights to ${exposed.slice(0, NAMED).join(", ")}${exposed.length > NAMED ? ` and ${exposed.length - NAMED} more` : ""} in ${data}`,
      "the next start removes them; consider who may have read it",
    );
  return pass("data folder", `${data} is writable`);
}

export function checkKeys(data: string): Finding {
  const folder = join(data, "keys");
  const files = existsSync(folder) && isWritable(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const paths = [...files, join(data, "setup-token"), join(data, "server.json")].filter((path) => existsSync(path));
  const open = paths.filter((path) => readMode(path) & OTHERS);
  if (open.length > 0)
    return fail(
      "keys",
      `others can read ${open.join(", ")}`,
      `chmod 600 ${open.join(" ")}; then consider who may have read them`,
    );
  const bad = files.filter((path) => !/^[0-9a-f]{64}\s*$/i.test(readFileSync(path, "utf8")));
  if (bad.length > 0)
    return fail("keys", `${bad.join(", ")} does not hold a key of 64 hexadecimal digits`, "put it back from a copy");
  return pass(
    "keys",
    files.length === 0 ? "none yet; made when they are needed" : `${files.length}, for the owner alone`,
  );
}

export function checkDisk(data: string): Finding {
  const { bavail, bsize } = statfsSync(findNearest(data));
  const free = bavail * bsize;
  const text = `${formatAmount(free, "Bytes")} free`;
  if (free < LIMITS.diskLittleBytes) return fail("disk", text, "make room: writing will fail soon");
  if (free < LIMITS.diskLowBytes) return warn("disk", text, "make room, or move the data folder to a larger disk");
  return pass("disk", text);
}

/** Reads the database. It may run beside a server: nothing is locked for longer than a read. */
export function readDatabase<T>(path: string, read: (db: Database.Database) => T): T {
  const db = new Database(path, { readonly: true, timeout: 5_000 });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

export function checkDatabase(data: string): Finding[] {
  const path = databasePath(data);
  try {
    const version = sqliteVersion();
    if (!existsSync(path)) return [pass("database", `SQLite ${version}; made at the first start`)];
    if (statSync(path).size === 0) return [fail("database", "empty: its content is lost", RESTORE)];
    return readDatabase(path, (db) => {
      const problems = db.prepare<[], string>("PRAGMA integrity_check(3)").pluck().all();
      const size = formatAmount(statSync(path).size, "Bytes");
      const health =
        problems.join() === "ok"
          ? pass("database", `SQLite ${version}, ${size}, sound`)
          : fail("database", `damaged: ${problems.join("; ")}`, RESTORE);
      return [health, checkMigrations(db)];
    });
  } catch (error) {
    const damaged = /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error) ?? "");
    if (damaged) return [fail("database", `damaged: ${messageOf(error)}`, RESTORE)];
    return [
      fail("database", `cannot be read: ${messageOf(error)}`, "see who owns skep.db, and whether it is a database"),
    ];
  }
}

/** Whether agents have worked in containers; false when the database cannot be read, which `checkDatabase` reports. */
export function wereContainersUsed(data: string): boolean {
  const findFact = (db: Database.Database) => db.prepare("SELECT 1 FROM facts WHERE name = ?").get(CONTAINERS_USED);
  return attempt(() => readDatabase(databasePath(data), findFact)) !== undefined;
}

function sqliteVersion(): string {
  const db = new Database(":memory:");
  try {
    return String(db.prepare("SELECT sqlite_version()").pluck().get());
  } finally {
    db.close();
  }
}

function checkMigrations(db: Database.Database): Finding {
  const { missing, refusal } = compareMigrations(db);
  if (refusal) return fail("migrations", refusal.message, "use the version that wrote it, or restore a copy");
  if (missing.length > 0)
    return pass("migrations", `${missing.length} of ${MIGRATIONS.length} are applied at the next start, after a copy`);
  return pass("migrations", `all ${MIGRATIONS.length} applied`);
}
