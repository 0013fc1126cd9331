/**
 * Measures how much disk space everybody and everything uses. It reads whole tables and walks every folder, so it runs
 * in a separate process. Texts are counted by their bytes; SQLite's overhead around them is part of `database`.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { messageOf } from "../core/errors.ts";
import { sizeOfFolder } from "./measure-worker.ts";
import { shortDatabase } from "./short-database.ts";

export interface DiskUsage {
  total_bytes: number;
  database: { bytes: number; free_bytes: number; wal_bytes: number };
  kinds: { kind: string; count: number; bytes: number }[];
  users: { user_id: string | null; bytes: number }[];
  projects: { project_id: string; name: string | null; bytes: number }[];
  /** The runs, chats and other sessions that use most. */
  largest: { id: string; bytes: number }[];
}

export interface OldItem {
  kind: "run" | "session";
  id: string;
  project_id: string | null;
}
export interface OldHistory {
  /** The oldest items that exceed the limit, at most `most` of them. */
  items: OldItem[];
  /** Number and size of all items that exceed the limit, including those not in `items`. */
  count: number;
  bytes: number;
}

export type DiskOrder =
  | { ask: "usage"; data: string }
  | { ask: "too-large"; data: string; of: "runs" | "chats"; bytes: number; most: number }
  | ({ ask: "old"; data: string } & OldQuestion);
/** @param ids SELECT of the ids, with the parameter `before`. Of transcripts, only what their removal deletes counts. */
export interface OldQuestion {
  of: "runs" | "chats" | "transcripts";
  ids: string;
  before: string;
}
type Reply = { answer: unknown } | { broken: string };

const TIME_LIMIT_MS = 30 * 60_000;
const LARGEST = 20;

/** Bytes of each session's texts, summed by the run or root session that it belongs to. */
const ROOTS = `CREATE TEMP TABLE said AS
  SELECT coalesce(s.run_id, root.run_id, s.root_id) AS id, coalesce(s.run_id, root.run_id) IS NOT NULL AS is_run, sum(of.bytes) AS bytes
  FROM (
    SELECT session_id, sum(octet_length(content)) AS bytes FROM messages GROUP BY session_id
    UNION ALL SELECT session_id, sum(octet_length(input) + coalesce(octet_length(output), 0)) FROM tool_calls GROUP BY session_id
    UNION ALL SELECT session_id, sum(octet_length(input) + octet_length(text) + octet_length(outputs)) FROM executions GROUP BY session_id
  ) AS of JOIN sessions AS s ON s.id = of.session_id LEFT JOIN sessions AS root ON root.id = s.root_id
  GROUP BY 1`;
const EVENTS = `CREATE TEMP TABLE told AS
  SELECT coalesce(run_id, session_id, swarm_id) AS id, user_id, project_id, sum(octet_length(data)) AS bytes, count(*) AS rows
  FROM events GROUP BY 1, 2, 3`;

/** Runs until its one order is carried out, or its parent process is gone. */
export function runDiskWorker(): void {
  if (!process.send) throw new Error("disk-worker is started by the server, over IPC");
  process.on("disconnect", () => process.exit(0));
  process.on("message", async (order: DiskOrder) => {
    const reply = await carryOut(order).then(
      (answer): Reply => ({ answer }),
      (error): Reply => ({ broken: messageOf(error) }),
    );
    process.send?.(reply, () => process.exit(0));
  });
}

async function carryOut(order: DiskOrder): Promise<DiskUsage | OldHistory | number> {
  using db = shortDatabase(join(order.data, "skep.db"), { readonly: true, timeout: 5_000 });
  db.pragma("temp_store = MEMORY");
  if (order.ask === "old") return bytesOfOld(db, order);
  return order.ask === "usage" ? await usageOf(db, order.data) : await tooLarge(db, order);
}

const filesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

/** Bytes of each folder inside this folder. */
async function sizesIn(path: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const name of filesIn(path)) sizes.set(name, (await sizeOfFolder(path, name))?.bytes ?? 0);
  return sizes;
}

async function usageOf(db: Database.Database, data: string): Promise<DiskUsage> {
  db.exec(ROOTS);
  db.exec(EVENTS);
  const users = new Map<string | null, number>();
  const projects = new Map<string, number>();
  const largest = new Map<string, number>();
  const add = <K>(map: Map<K, number>, key: K, bytes: number) => map.set(key, (map.get(key) ?? 0) + bytes);
  const charge = (of: { id?: string; user_id: string | null; project_id: string | null }, bytes: number) => {
    add(users, of.user_id, bytes);
    if (of.project_id !== null) add(projects, of.project_id, bytes);
    if (of.id !== undefined) add(largest, of.id, bytes);
  };
  type Owned = { id: string; user_id: string | null; project_id: string | null };
  const ownerOf = db.prepare<{ id: string }, Owned>(
    `SELECT id, created_by AS user_id, project_id FROM runs WHERE id = @id
     UNION ALL SELECT id, user_id, project_id FROM sessions WHERE id = @id LIMIT 1`,
  );
  const kinds: DiskUsage["kinds"] = [];
  const addKind = (name: string, count: number, bytes: number) => kinds.push({ kind: name, count, bytes });

  const said = db.prepare<[], { id: string; bytes: number }>("SELECT id, bytes FROM said").all();
  addKind("transcripts", said.length, sum(said));
  for (const { id, bytes } of said) charge(ownerOf.get({ id }) ?? { user_id: null, project_id: null }, bytes);
  const told = db
    .prepare<[], { id: string | null; user_id: string | null; project_id: string | null; bytes: number; rows: number }>(
      "SELECT * FROM told",
    )
    .all();
  addKind(
    "events",
    told.reduce((count, { rows }) => count + rows, 0),
    sum(told),
  );
  for (const { user_id, project_id, bytes } of told) charge({ user_id, project_id }, bytes);
  const addTable = (name: string, table: string, owner: string, project: string) => {
    const rows = db
      .prepare<[], { user_id: string | null; project_id: string | null; count: number; bytes: number }>(
        `SELECT ${owner} AS user_id, ${project} AS project_id, count(*) AS count, coalesce(sum(size_bytes), 0) AS bytes
         FROM ${table} GROUP BY 1, 2`,
      )
      .all();
    addKind(
      name,
      rows.reduce((all, { count }) => all + count, 0),
      sum(rows),
    );
    for (const row of rows) charge(row, row.bytes);
  };
  addTable("attachments", "attachments", "user_id", "NULL");
  addTable("documents", "documents", "user_id", "project_id");
  addTable("memory", "memory_entries", "owner_id", "NULL");
  addTable("evals", "evals", "user_id", "NULL");

  const work = await sizesIn(join(data, "workspaces"));
  addKind("files of runs and chats", work.size, total(work));
  for (const [id, bytes] of work) charge(ownerOf.get({ id }) ?? { user_id: null, project_id: null }, bytes);
  const clones = await sizesIn(join(data, "projects"));
  addKind("clones and code graphs", clones.size, total(clones));
  for (const [id, bytes] of clones) add(projects, id, bytes);
  for (const [name, folder] of [
    ["backups", "backups"],
    ["files of tool servers", "mcp"],
    ["cache", "cache"],
  ] as const)
    addKind(name, filesIn(join(data, folder)).length, (await sizeOfFolder(data, folder))?.bytes ?? 0);

  const readPragma = (name: string) => Number(db.pragma(name, { simple: true }));
  const bytesOf = (name: string) => statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0;
  const database = {
    bytes: bytesOf("skep.db"),
    free_bytes: readPragma("freelist_count") * readPragma("page_size"),
    wal_bytes: bytesOf("skep.db-wal"),
  };
  let files = 0;
  for (const name of ["agents", "backups", "cache", "mcp", "projects", "uploads", "vaults", "workspaces"])
    files += (await sizeOfFolder(data, name))?.bytes ?? 0;
  const nameOf = db.prepare<[string], string>("SELECT name FROM projects WHERE id = ?").pluck();
  const byBytes = <T extends { bytes: number }>(all: T[]) => all.sort((a, b) => b.bytes - a.bytes);
  return {
    total_bytes: database.bytes + database.wal_bytes + files,
    database,
    kinds: byBytes(kinds),
    users: byBytes([...users].map(([user_id, bytes]) => ({ user_id, bytes }))),
    projects: byBytes(
      [...projects].map(([project_id, bytes]) => ({ project_id, name: nameOf.get(project_id) ?? null, bytes })),
    ),
    largest: byBytes([...largest].map(([id, bytes]) => ({ id, bytes }))).slice(0, LARGEST),
  };
}

/**
 * Finds the oldest items of one kind that exceed the limit. Counted from the newest, once the sum exceeds the limit,
 * items that have ended and are not marked to be kept are listed.
 */
async function tooLarge(
  db: Database.Database,
  { data, of, bytes: limit, most }: Extract<DiskOrder, { ask: "too-large" }>,
): Promise<OldHistory> {
  db.exec(ROOTS);
  const work = await sizesIn(join(data, "workspaces"));
  const rows = db
    .prepare<[], { id: string; project_id: string | null; bytes: number; ended: number; kept: number }>(
      of === "runs"
        ? `SELECT runs.id, project_id, coalesce(said.bytes, 0) AS bytes, finished_at IS NOT NULL AS ended,
             EXISTS (SELECT 1 FROM kept_history WHERE kept_history.id = runs.id) AS kept
           FROM runs LEFT JOIN said ON said.id = runs.id ORDER BY coalesce(finished_at, '9') DESC`
        : `SELECT sessions.id, project_id, coalesce(said.bytes, 0) AS bytes, ended_at IS NOT NULL AS ended,
             EXISTS (SELECT 1 FROM kept_history WHERE kept_history.id = sessions.id) AS kept
           FROM sessions LEFT JOIN said ON said.id = sessions.id
           WHERE run_id IS NULL AND parent_id IS NULL ORDER BY last_activity_at DESC`,
    )
    .all();
  let used = 0;
  const gone: (OldItem & { bytes: number })[] = [];
  for (const { id, project_id, bytes, ended, kept } of rows) {
    const all = bytes + (work.get(id) ?? 0);
    used += all;
    if (used > limit && ended && !kept)
      gone.push({ kind: of === "runs" ? "run" : "session", id, project_id, bytes: all });
  }
  const oldest = gone.reverse();
  return {
    items: oldest.slice(0, most).map(({ bytes: _, ...item }) => item),
    count: oldest.length,
    bytes: sum(oldest),
  };
}

/** Sums the texts of old items, and their folders as last measured. */
function bytesOfOld(db: Database.Database, { of, ids, before }: OldQuestion): number {
  const read = (sql: string): number => db.prepare<object, number>(sql).pluck().get({ before }) ?? 0;
  if (of === "transcripts")
    return (
      read(`SELECT sum(octet_length(content)) FROM messages WHERE session_id IN (${ids})`) +
      read(
        `SELECT sum(octet_length(input) + coalesce(octet_length(output), 0)) FROM tool_calls WHERE session_id IN (${ids})`,
      )
    );
  db.exec(ROOTS);
  return (
    read(`SELECT sum(bytes) FROM said WHERE id IN (${ids})`) +
    read(`SELECT sum(bytes) FROM workspace_sizes WHERE name IN (${ids})`)
  );
}

const sum = (rows: readonly { bytes: number }[]): number => rows.reduce((all, { bytes }) => all + bytes, 0);
const total = (sizes: ReadonlyMap<string, number>): number =>
  [...sizes.values()].reduce((all, bytes) => all + bytes, 0);

export type DiskAsker = ReturnType<typeof createDiskAsker>;

/** @param command line of a disk worker. Its answers reject when the process fails, is too slow, or is aborted. */
export function createDiskAsker(command: readonly string[], data: string) {
  const ask = <Answer>(order: DiskOrder, signal?: AbortSignal): Promise<Answer> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const child = Bun.spawn([...command], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        env: {},
        ipc(reply: { answer: Answer } | { broken: string }) {
          if ("answer" in reply) resolve(reply.answer);
          else reject(new Error(`the process that measures the disk failed: ${reply.broken}`));
        },
        onExit(_, code, killedBy) {
          clearTimeout(late);
          signal?.removeEventListener("abort", stop);
          if (signal?.aborted) reject(signal.reason);
          else reject(new Error(`the process that measures the disk ended early (${killedBy ?? code})`));
        },
      });
      const stop = () => child.kill("SIGKILL");
      const late = setTimeout(stop, TIME_LIMIT_MS);
      signal?.addEventListener("abort", stop, { once: true });
      child.send(order);
    });
  return {
    usage: (signal?: AbortSignal): Promise<DiskUsage> => ask({ ask: "usage", data }, signal),
    /** Bytes of what is older than a time. */
    old: (question: OldQuestion): Promise<number> => ask({ ask: "old", data, ...question }),
    tooLarge: (of: "runs" | "chats", bytes: number, most: number, signal?: AbortSignal): Promise<OldHistory> =>
      ask({ ask: "too-large", data, of, bytes, most }, signal),
  };
}
