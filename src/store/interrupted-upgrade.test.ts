/** An upgrade that is killed at any migration changes nothing, and the next start completes it. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/list.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A database of the first version, with rows in tables that later migrations change, copy or remove. */
function oldDatabase(name: string): string {
  const path = join(folder, name);
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  migrate(db, null, MIGRATIONS.slice(0, 1));
  db.exec(`
    INSERT INTO run_definitions VALUES ('d', '{"id":"p","steps":[{"id":"one","agent":"ann"}]}');
    INSERT INTO runs (id, pipeline_id, definition_id, task_description, status, created_at, finished_at)
      VALUES ('run_1', 'p', 'd', 'Look at the words of old', 'failed', '2026-01-01', '2026-01-02');
    INSERT INTO steps (id, run_id, step_id, position, attempt, max_attempts, visit, status, created_at)
      VALUES ('step_1', 'run_1', 'one', 0, 1, 1, 1, 'failed', '2026-01-01');
    INSERT INTO run_comments (id, run_id, path, line, side, quote, body, created_at)
      VALUES ('com_1', 'run_1', 'a.ts', 3, 'new', 'x', 'A comment of old', '2026-01-02');
    INSERT INTO facts (name, value) VALUES ('kept', 'as it was');`);
  db.close();
  return path;
}

/** Upgrades in a process that is killed right after the statements of this migration. */
async function upgradeKilledAfter(path: string, migration: string): Promise<void> {
  const script = `
    import Database from "better-sqlite3";
    import { migrate } from ${JSON.stringify(join(import.meta.dir, "migrate.ts"))};
    import { MIGRATIONS } from ${JSON.stringify(join(import.meta.dir, "migrations/list.ts"))};
    const db = new Database(${JSON.stringify(path)});
    db.function("die", () => process.kill(process.pid, "SIGKILL"));
    const dying = MIGRATIONS.map(({ name, sql }) => ({ name, sql: name === ${JSON.stringify(migration)} ? sql + "; SELECT die();" : sql }));
    migrate(db, null, dying);`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, stdout: "ignore", stderr: "pipe" });
  const [, said] = [await child.exited, await new Response(child.stderr).text()];
  expect([child.signalCode, said]).toEqual(["SIGKILL", ""]);
}

/** The schema and every row, except the times at which migrations were applied. */
function contentOf(db: Database.Database): unknown {
  const tables = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
    )
    .all();
  const rows = tables
    .filter(({ sql, name }) => sql.startsWith("CREATE TABLE") && name !== "migrations")
    .map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]);
  return { tables, rows, applied: db.prepare("SELECT name FROM migrations ORDER BY name").pluck().all() };
}

function upgrade(path: string): unknown {
  const db = new Database(path);
  try {
    migrate(db, null);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(db.pragma("foreign_key_check")).toEqual([]);
    return contentOf(db);
  } finally {
    db.close();
  }
}

const whole = upgrade(oldDatabase("whole.db"));

test("what is upgraded without an interruption holds what was there", () => {
  for (const words of ["Look at the words of old", "A comment of old", "as it was"])
    expect(JSON.stringify(whole)).toContain(words);
});

test.each(MIGRATIONS.slice(1).map(({ name }) => name))("killed at %s", async (name) => {
  const path = oldDatabase(`${name}.db`);
  await upgradeKilledAfter(path, name);
  const left = new Database(path);
  expect(left.prepare("SELECT name FROM migrations").pluck().all()).toEqual(["0001-schema"]);
  left.close();
  expect(upgrade(path)).toEqual(whole);
});
