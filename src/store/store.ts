/**
 * The store: one SQLite database, one writer connection, transactions that carry their events. What `write` returned
 * is on disk (`synchronous = FULL`); its events reach the bus only after the commit.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { type Clock, timestamp } from "../core/clock.ts";
import { EVENT_KINDS, type EventDraft, type SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Authority } from "./authority.ts";
import { migrate } from "./migrate.ts";
import { withStatementCache } from "./statement-cache.ts";

export type Db = BetterSQLite3Database<Record<string, never>>;

export interface WriteTx {
  db: Db;
  /** Adds an event to the log, in this transaction. */
  emit(draft: EventDraft): void;
}

export interface Store {
  /** For reading. Writes go through `write`. */
  readonly db: Db;
  readonly sqlite: Database.Database;
  /** Runs `change` in one immediate transaction; nested calls join the outer one. */
  write<T>(change: (tx: WriteTx) => T): T;
  /**
   * Runs `work`, a request. Every transaction that begins in it, or in what it awaits, asks the authority first.
   * Receivers of committed events run without it.
   */
  runAs<T>(authority: Authority, work: () => T): T;
  /** Queues an event of the lossy class (text chunks): written in batches, before any later event. */
  emitSoon(draft: EventDraft): void;
  /** Writes what `emitSoon` queued. */
  flush(): void;
  /** Called after each commit that wrote events, in order of ids. One receiver: the bus. */
  onCommit(receiver: (events: SkepEvent[]) => void): void;
  close(): void;
}

export interface StoreOptions {
  /** Path of the database file, or ":memory:". */
  path: string;
  clock: Clock;
  /** Folder of the copies made before a migration. */
  copies?: string;
}

/** Opens, migrates and tunes the database. @throws Problem 409 `database_newer`. */
export function openStore({ path, clock, copies }: StoreOptions): Store {
  const sqlite = new Database(path, { timeout: 5_000 });
  try {
    tune(sqlite);
    migrate(sqlite, copies ?? null);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return createStore(sqlite, clock);
}

export const databasePath = (data: string): string => join(data, "skep.db");

function tune(sqlite: Database.Database): void {
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("trusted_schema = OFF");
  sqlite.pragma("temp_store = MEMORY");
  sqlite.pragma("wal_autocheckpoint = 2000");
}

function createStore(sqlite: Database.Database, clock: Clock): Store {
  const db = drizzle({ client: withStatementCache(sqlite) });
  const insertEvent = sqlite.prepare(
    `INSERT INTO events (kind, at, run_id, step_id, session_id, agent_id, swarm_id, project_id, user_id, data)
     VALUES (@kind, @at, @run_id, @step_id, @session_id, @agent_id, @swarm_id, @project_id, @user_id, @data)`,
  );
  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");
  const rollback = sqlite.prepare("ROLLBACK");
  let receiver: (events: SkepEvent[]) => void = () => {};
  const authorities = new AsyncLocalStorage<Authority | undefined>();
  let depth = 0;
  let written: SkepEvent[] = [];
  let soon: EventDraft[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const insert = (draft: EventDraft): void => {
    const { kind, data, ...refs } = draft;
    let json = JSON.stringify(data);
    if (json.length > LIMITS.eventDataBytes) json = JSON.stringify({ cut: true, text: json.slice(0, 4_096) });
    const at = timestamp(clock.now());
    const row = {
      run_id: null,
      step_id: null,
      session_id: null,
      agent_id: null,
      swarm_id: null,
      project_id: null,
      user_id: null,
    };
    const { lastInsertRowid } = insertEvent.run({ ...row, ...refs, kind, at, data: json });
    written.push({ ...draft, data: JSON.parse(json), id: Number(lastInsertRowid), at });
  };
  const insertSoon = (): EventDraft[] => {
    clearTimeout(timer);
    timer = undefined;
    const batch = soon;
    soon = [];
    for (const draft of batch) insert(draft);
    return batch;
  };
  const tx: WriteTx = { db, emit: insert };

  function write<T>(change: (tx: WriteTx) => T): T {
    if (depth > 0) return change(tx);
    const authority = authorities.getStore();
    begin.run();
    depth = 1;
    let batch: EventDraft[] = [];
    try {
      authority?.assertHolds();
      batch = insertSoon();
      const result = change(tx);
      if (result instanceof Promise) throw new Error("a transaction must not wait: do the waiting before it");
      authority?.changed();
      commit.run();
      return result;
    } catch (error) {
      if (sqlite.inTransaction) rollback.run();
      written = [];
      soon = [...batch, ...soon];
      if (soon.length > 0) schedule();
      throw error;
    } finally {
      depth = 0;
      const events = written;
      written = [];
      if (events.length > 0) authorities.run(undefined, () => receiver(events));
    }
  }
  /** Chunks of text may be lost with the power, not with the process: no fsync for them alone. */
  const flush = (): void => {
    if (soon.length === 0 || depth > 0 || !sqlite.open) return;
    sqlite.pragma("synchronous = NORMAL");
    try {
      write(() => {});
    } finally {
      sqlite.pragma("synchronous = FULL");
    }
  };
  const schedule = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      try {
        flush();
      } catch {
        // A full disk: the chunks stay queued, bounded below, and go out with the next write that succeeds.
        if (soon.length > 10_000) soon = soon.slice(-1_000);
      }
    }, LIMITS.outputFlushMs);
  };

  return {
    db,
    sqlite,
    write,
    runAs: (authority, work) => authorities.run(authority, work),
    emitSoon(draft) {
      const last = soon.at(-1);
      const joins =
        last?.kind === draft.kind &&
        last.session_id === draft.session_id &&
        last.data["call_id"] === draft.data["call_id"] &&
        EVENT_KINDS[draft.kind] === "lossy";
      if (joins && typeof last.data["text"] === "string" && typeof draft.data["text"] === "string")
        last.data = { ...last.data, text: last.data["text"] + draft.data["text"] };
      else soon.push({ ...draft });
      schedule();
    },
    flush,
    onCommit(next) {
      receiver = next;
    },
    close() {
      try {
        flush();
      } catch {
        // Closing goes on: what is lost is text that was only queued.
      }
      clearTimeout(timer);
      sqlite.close();
    },
  };
}
