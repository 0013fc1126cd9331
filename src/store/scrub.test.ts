/** No byte of a deleted row stays in the file, even if SQLite had moved the row between pages before. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createScrubber } from "./scrub.ts";
import { rewrite, shrink } from "./shrink.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-scrub-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CANARY = "canary-7d31";
const never = new AbortController().signal;
const isLeft = (path: string) => readFileSync(path).includes(CANARY) || readFileSync(`${path}-wal`).includes(CANARY);

/** Rows of many sizes in random order, so that trees are rebalanced again and again; one row in nine is deleted. */
function fill(name: string): Database.Database {
  const sqlite = new Database(join(folder, name));
  sqlite.pragma("auto_vacuum = INCREMENTAL");
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("secure_delete = ON");
  for (const index of ["run_trigrams", "task_trigrams", "document_text", "memory_text"])
    sqlite.exec(`CREATE VIRTUAL TABLE ${index} USING fts5(text)`);
  sqlite.exec(
    "CREATE TABLE notes (id TEXT PRIMARY KEY, mark TEXT, text TEXT); CREATE INDEX by_text ON notes (text, mark)",
  );
  const insert = sqlite.prepare("INSERT INTO notes VALUES (?, 'a', ?)");
  const order = Array.from({ length: 9_000 }, (_, index) => (index * 7_919) % 9_000);
  sqlite.transaction(() => {
    for (const index of order)
      insert.run(`note-${index}`, `${index} ${"x".repeat((index * 31) % 300)} ${index % 9 === 0 ? CANARY : "kept"}`);
  })();
  sqlite.prepare("DELETE FROM notes WHERE text LIKE ?").run(`%${CANARY}`);
  return sqlite;
}
const rowsOf = (sqlite: Database.Database) => sqlite.prepare<[], object>("SELECT * FROM notes ORDER BY id").all();

test("scrubbing leaves no byte of deleted rows in the file, and every other row", async () => {
  const sqlite = fill("scrubbed.db");
  const scrubber = createScrubber(sqlite);
  const before = rowsOf(sqlite);
  expect(before).toHaveLength(8_000);
  await shrink(sqlite, never);
  expect(isLeft(sqlite.name)).toBe(true);

  expect(await scrubber.scrub(never)).toBe(true);
  expect(isLeft(sqlite.name)).toBe(false);
  // The connection's cached pages would bring the bytes back, because each page is written again.
  sqlite.prepare("UPDATE notes SET mark = 'b'").run();
  sqlite.pragma("wal_checkpoint(TRUNCATE)");
  expect(isLeft(sqlite.name)).toBe(false);
  expect(sqlite.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(rowsOf(sqlite)).toEqual(before.map((row) => ({ ...row, mark: "b" })));
  sqlite.close();
  scrubber.close();
});

test("a reader in the middle of its rows reads on while the pages are scrubbed", async () => {
  const sqlite = fill("read.db");
  const scrubber = createScrubber(sqlite);
  await shrink(sqlite, never);
  const reader = new Database(sqlite.name, { readonly: true });
  const rows = reader.prepare("SELECT * FROM notes ORDER BY id").iterate();
  const first = rows.next().value;
  const isScrubbed = await scrubber.scrub(never);
  expect([first, ...rows]).toEqual(rowsOf(sqlite));
  // A concurrent reader of the file does not block it.
  expect(isScrubbed).toBe(true);
  for (const db of [reader, sqlite]) db.close();
  scrubber.close();
});

test("a database that was never made shrinkable is left as it is", async () => {
  const sqlite = new Database(join(folder, "plain.db"));
  sqlite.pragma("journal_mode = WAL");
  sqlite.exec("CREATE TABLE notes (id TEXT)");
  const scrubber = createScrubber(sqlite);
  expect(await scrubber.scrub(never)).toBe(false);
  rewrite(sqlite);
  expect(await scrubber.scrub(never)).toBe(true);
  sqlite.close();
  scrubber.close();
});
