/**
 * Fills a database with a year's data. A few real runs, made by a server, are copied thousands of times with new ids,
 * times and agents. Tables are found by their columns, so that this follows the schema.
 */
import Database from "better-sqlite3";
import { TypeID } from "typeid-js";
import { HOUR_MS } from "../core/clock.ts";

interface YearOptions {
  runs: number;
  /** At most this many events are kept, the newest ones. */
  events: number;
  /** Ids of users who own the runs in turn; null for nobody. */
  owners: readonly (string | null)[];
  /** Agents that replace those of the real runs, in turn. */
  agents: readonly string[];
  pipelines: readonly string[];
}

type Row = Record<string, string | number | null>;

const YEAR_MS = 365 * 24 * HOUR_MS;
const ID = /\b(run|step|sess|msg|call|llm|exe)_[0-9a-hjkmnp-tv-z]{26}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g;

/** An id with that prefix whose time is `ms`. */
function idAt(prefix: string, ms: number): string {
  const time = ms.toString(16).padStart(12, "0");
  const random = crypto.randomUUID().replaceAll("-", "");
  const uuid = [time.slice(0, 8), time.slice(8), `7${random.slice(13, 16)}`, random.slice(16, 20), random.slice(20)];
  return TypeID.fromUUID(prefix, uuid.join("-")).toString();
}

/** Tables that triggers fill: their rows appear with the rows from which they follow. */
const WRITTEN = ["run_agents", "run_texts"];

/** Tables whose rows belong to a run: they name the run, or one of its executions. */
function tablesOf(db: Database.Database): { name: string; columns: string[] }[] {
  const names = db
    .prepare<unknown[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  return names
    .map((name) => ({
      name,
      columns: (db.pragma(`table_info(${name})`) as { name: string }[]).map((one) => one.name),
    }))
    .filter(({ name }) => !WRITTEN.includes(name))
    .filter(
      ({ name, columns }) =>
        name === "runs" || ["run_id", "session_id", "execution_id"].some((id) => columns.includes(id)),
    );
}

/** All rows of a run, by table, in an order in which they can be inserted. */
function rowsOf(db: Database.Database, runId: string): Map<string, Row[]> {
  const known = new Set([runId]);
  const found = new Map<string, Row[]>();
  const tables = tablesOf(db);
  // Repeat until nothing new is found: rows that name an execution are found only once the execution is known.
  for (let size = 0; size < known.size; ) {
    size = known.size;
    for (const { name, columns } of tables) {
      const by = columns.filter((column) => ["run_id", "session_id", "execution_id"].includes(column));
      if (name === "runs" || columns.includes("run_id") === false) by.push(...(name === "runs" ? ["id"] : []));
      const where = by.map((column) => `${column} IN (SELECT value FROM json_each(@ids))`).join(" OR ");
      const rows = db
        .prepare<unknown[], Row>(`SELECT * FROM ${name} WHERE ${where}`)
        .all({ ids: JSON.stringify([...known]) });
      found.set(name, rows);
      for (const row of rows)
        for (const column of ["id", "session_id", "execution_id"])
          if (typeof row[column] === "string" && /^(sess|exe)_/.test(row[column])) known.add(row[column]);
    }
  }
  return found;
}

/** Multiplies the runs of the database until there are `runs` of them. @returns the number of rows by table. */
export function fillYear(
  path: string,
  { runs, events, owners, agents, pipelines }: YearOptions,
): Record<string, number> {
  const db = new Database(path);
  db.pragma("synchronous = OFF");
  db.pragma("foreign_keys = OFF");
  const bases = db
    .prepare<unknown[], string>("SELECT id FROM runs ORDER BY id")
    .pluck()
    .all()
    .map((id) => ({
      begins: Date.parse(String(db.prepare("SELECT created_at FROM runs WHERE id = ?").pluck().get(id))),
      rows: rowsOf(db, id),
    }));
  const own = [
    ...new Set(bases.flatMap(({ rows }) => (rows.get("steps") ?? []).map((row) => String(row["agent_id"])))),
  ];
  const statements = new Map<string, Database.Statement>();
  const insert = (table: string, row: Row): void => {
    let statement = statements.get(table);
    if (!statement) {
      const names = Object.keys(row);
      const marks = names.map((name) => `@${name}`);
      statement = db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${marks.join()})`);
      statements.set(table, statement);
    }
    statement.run(row);
  };
  const now = Date.now();
  const perRun = Math.max(...bases.map(({ rows }) => rows.get("events")?.length ?? 0));
  const keepEventsFrom = runs - Math.ceil(events / Math.max(1, perRun));
  // Remove the real runs: their ids and events are newer than all others, but the oldest must come first.
  const remove = bases.map(({ rows }) => rows);
  db.transaction(() => {
    for (const rows of remove)
      for (const [table, list] of rows)
        for (const row of list) {
          const keys = Object.keys(row).filter((name) => row[name] !== null);
          db.prepare(`DELETE FROM ${table} WHERE ${keys.map((name) => `${name} = @${name}`).join(" AND ")}`).run(row);
        }
    for (const table of WRITTEN) db.exec(`DELETE FROM ${table}`);
  })();
  db.transaction(() => {
    for (let n = 0; n < runs; n++) {
      const base = bases[n % bases.length]!;
      const begins = now - YEAR_MS + Math.floor((YEAR_MS - 60_000) * (n / runs));
      const shift = begins - base.begins;
      const ids = new Map<string, string>();
      const owner = owners[n % owners.length] ?? null;
      const agentOf = (id: string) => {
        const at = own.indexOf(id);
        return at < 0 ? id : agents[(at + n) % agents.length]!;
      };
      const newId = (id: string, prefix: string) => {
        const known = ids.get(id) ?? idAt(prefix, Date.parse(timeOf(id)) + shift);
        ids.set(id, known);
        return known;
      };
      const rewrite = (value: string) =>
        value.replace(ID, newId).replace(TIME, (time) => new Date(Date.parse(time) + shift).toISOString());
      for (const [table, list] of base.rows) {
        if (table === "events" && n < keepEventsFrom) continue;
        for (const row of list) {
          const copy: Row = {};
          for (const [name, value] of Object.entries(row))
            copy[name] = typeof value === "string" ? rewrite(value) : value;
          if (table === "events") delete copy["id"];
          for (const name of ["user_id", "created_by"]) if (name in copy) copy[name] = owner;
          if ("agent_id" in copy && typeof copy["agent_id"] === "string") copy["agent_id"] = agentOf(copy["agent_id"]);
          if ("pipeline_id" in copy) copy["pipeline_id"] = pipelines[n % pipelines.length]!;
          if (table === "llm_calls") copy["cost_nano"] = 1_000 * (1 + (n % 97));
          insert(table, copy);
        }
      }
    }
  })();
  db.pragma("wal_checkpoint(TRUNCATE)");
  const counts = Object.fromEntries(
    tablesOf(db).map(({ name }) => [
      name,
      db.prepare<unknown[], number>(`SELECT count(*) FROM ${name}`).pluck().get()!,
    ]),
  );
  db.close();
  return counts;
}

/** The time in an id, as RFC 3339. */
const timeOf = (id: string): string => {
  const uuid = TypeID.fromString(id).toUUID();
  return new Date(Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16)).toISOString();
};
