/** For every table it is decided what happens to its rows when the object they belong to is deleted. */
import { afterAll, expect, test } from "bun:test";
import Database from "better-sqlite3";
import { DELETION_PLAN, type Reach } from "./deletion-plan.ts";
import { migrate } from "./migrate.ts";

const sqlite = new Database(":memory:");
migrate(sqlite, null);
afterAll(() => void sqlite.close());

const listTables = (condition: string) =>
  sqlite.prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table' AND ${condition}`).pluck().all();
/** The internal tables of a text index are listed as tables, too. */
const indexes = listTables("sql LIKE 'CREATE VIRTUAL TABLE%'");
const isPart = (table: string) => indexes.some((index) => table !== index && table.startsWith(`${index}_`));
const tables = listTables("name NOT LIKE 'sqlite_%'").filter((table) => !isPart(table));

test("the plan names every table, and no other", () => {
  expect(Object.keys(DELETION_PLAN).sort()).toEqual(tables.sort());
});

test("every table has an answer, and the conditions are of its columns", () => {
  for (const [table, { goes, loses, with: owner, stays }] of Object.entries(DELETION_PLAN)) {
    expect([table, goes ?? loses ?? owner ?? stays]).not.toEqual([table, undefined]);
    for (const condition of Object.values({ ...goes, ...loses?.of }))
      expect([table, sqlite.prepare(`SELECT 1 FROM ${table} WHERE ${condition}`).all({ id: "x" })]).toEqual([
        table,
        [],
      ]);
    if (loses) expect(sqlite.prepare(`UPDATE ${table} SET ${loses.columns} WHERE 0`).run().changes).toBe(0);
  }
});

test("what goes with another table does, by a reference or by a trigger", () => {
  for (const [table, { with: owner }] of Object.entries(DELETION_PLAN)) {
    if (owner === undefined) continue;
    const references = sqlite.pragma(`foreign_key_list(${table})`) as { table: string; on_delete: string }[];
    const isReference = references.some((one) => one.table === owner && one.on_delete === "CASCADE");
    const triggers = sqlite
      .prepare<[string, string], string>(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? AND sql LIKE '%DELETE ON%' AND sql LIKE ?",
      )
      .all(owner, `%DELETE FROM ${table} %`);
    expect([table, isReference || triggers.length > 0]).toEqual([table, true]);
  }
});

/** Columns by which rows belong to something that can be deleted. */
const LINKS: [column: RegExp, reach: Reach][] = [
  [/^(run_id)$/, "run"],
  [/^(session_id|from_session_id)$/, "session"],
  [/^(project_id)$/, "project"],
  [/^(user_id|owner_id)$/, "user"],
];

test("a column that names a run, session, project or user is answered for, or the table says why its rows stay", () => {
  const left: string[] = [];
  for (const table of tables) {
    const fate = DELETION_PLAN[table]!;
    for (const { name } of sqlite.pragma(`table_info(${table})`) as { name: string }[])
      for (const [column, reach] of LINKS)
        if (column.test(name) && !fate.with && !fate.stays && !fate.goes?.[reach] && !fate.loses?.of[reach])
          left.push(`${table}.${name}`);
  }
  // These rows are deleted with the runs and sessions of that project or user.
  expect(left.sort()).toEqual(BY_RUNS_AND_SESSIONS);
});

const BY_RUNS_AND_SESSIONS = [
  "events.project_id",
  "executions.run_id",
  "runs.project_id",
  "sessions.project_id",
  "sessions.run_id",
  "sessions.user_id",
  "steps.session_id",
];
