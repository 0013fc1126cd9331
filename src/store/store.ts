/**
 * The store: one SQLite database with one writer connection, whose transactions include their events. When `write`
 * returns, the change is on disk (`synchronous = FULL`). Its events reach the bus only after the commit.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Clock, toTimestamp } from "../core/clock.ts";
import { type DraftOf, type EventDefinition, type EventDraft, faultsOf, type SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { ownJson } from "../core/own-json.ts";
import type { Authority } from "./authority.ts";
import { ensureDatabase } from "./database-file.ts";
import { migrate } from "./migrate.ts";
import { newDatabase } from "./new-database.ts";
import { createRows, type RowsOf } from "./rows.ts";
import { createScrubber, type Scrubber } from "./scrub.ts";
import { makeShrinkable } from "./shrink.ts";
import { createSoonQueue } from "./soon-queue.ts";
import { createStatementCache, type Prepare } from "./statement-cache.ts";
import { withSteadyPlans } from "./steady-plans.ts";

export interface WriteTx {
  /** Adds an event to the log, in this transaction. */
  emit<D extends EventDefinition>(definition: D, draft: DraftOf<D>): void;
  /**
   * Runs `effect` once the outermost transaction has committed and its events were delivered to the bus. It never runs
   * when the write that requested it is rolled back. Its errors are logged. After a crash, effects may be lost. If
   * something must happen, store a row for it and let a job read that row.
   */
  after(effect: () => unknown): void;
}

export interface Store {
  readonly sqlite: Database.Database;
  /** Finds, lists, inserts, changes and removes the rows of a table. */
  readonly rows: RowsOf;
  /** The statement for this SQL text, compiled at its first use. Run it to its end before requesting another. */
  readonly statement: Prepare;
  /**
   * Runs `change` in one immediate transaction. Inside another one it is a savepoint: an error undoes only its own
   * rows, events and effects, and the caller may catch it and continue. `change` may only run SQL.
   */
  write<T>(change: (tx: WriteTx) => T): T;
  /**
   * Like `write`, for rows that may be lost in a power failure but not when the process dies, such as progress notes.
   * It does not wait for the disk. Events and effects still follow the commit.
   */
  note<T>(change: (tx: WriteTx) => T): T;
  /**
   * Runs `work`, a request. Every transaction that begins in it, or in code that it awaits, checks the authority first.
   * Receivers of committed events and effects run without it.
   */
  runAs<T>(authority: Authority, work: () => T): T;
  /** Queues a lossy event (text chunks, progress). It is written in a batch, before any later event. */
  emitSoon<D extends EventDefinition>(definition: D, draft: DraftOf<D>): void;
  /** Writes the events queued by `emitSoon`. */
  flush(): void;
  /** Overwrites remains of deleted rows in the gaps of pages. */
  readonly scrub: Scrubber["scrub"];
  /**
   * Sets the one receiver of committed events, the bus. It is called after each commit that wrote events, in the order
   * of ids.
   */
  onCommit(receiver: (events: SkepEvent[]) => void): void;
  close(): void;
}

interface StoreOptions {
  /** Path of the database file, or ":memory:". */
  path: string;
  clock: Clock;
  /** Folder for the copies made before migrations. */
  copies?: string;
  /** Receives an effect's error. Without it, the error is thrown outside any call, which fails a test. */
  onEffectError?(error: unknown): void;
  /** Validates each event's data against its schema, and throws on a mismatch: for tests and development. */
  checkEvents?: boolean;
}

/**
 * Opens, migrates and configures the database; creates it when there is none.
 * @throws Problem 409 `database_newer`, `database_empty`, `database_incomplete`.
 */
export function openStore({ path, clock, copies, ...options }: StoreOptions): Store {
  const inMemory = path === ":memory:";
  if (!inMemory) ensureDatabase(path);
  const sqlite = withSteadyPlans(new Database(inMemory ? newDatabase() : path, { timeout: 5_000 }));
  try {
    tune(sqlite);
    migrate(sqlite, copies ?? null);
    if (!inMemory) makeShrinkable(sqlite, path);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return createStore(sqlite, clock, options);
}

/** Opens a database for reading only: nothing is migrated, and writes throw. @throws Error when it cannot be read. */
export function openStoreToRead(path: string, clock: Clock): Store {
  return createStore(withSteadyPlans(new Database(path, { readonly: true, timeout: 5_000 })), clock, {});
}

export const databasePath = (data: string): string => join(data, "skep.db");

function tune(sqlite: Database.Database): void {
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = FULL");
  sqlite.pragma("foreign_keys = ON");
  sqlite.pragma("trusted_schema = OFF");
  sqlite.pragma("temp_store = MEMORY");
  // Deleted content is overwritten with zeros, so that no byte of a deleted secret stays in the file.
  sqlite.pragma("secure_delete = ON");
  // After every 2 MB of written pages, the commit copies them into the database file: about 4 ms of this thread.
  sqlite.pragma("wal_autocheckpoint = 500");
  // In KiB. The operating system caches the file's pages as well; with the driver's default of 16 MB they would be held
  // twice.
  sqlite.pragma("cache_size = -4000");
}

const throwLater = (error: unknown): void =>
  queueMicrotask(() => {
    throw error;
  });

function createStore(
  sqlite: Database.Database,
  clock: Clock,
  { onEffectError = throwLater, checkEvents = false }: Pick<StoreOptions, "onEffectError" | "checkEvents">,
): Store {
  const statement = createStatementCache(sqlite);
  const scrubber = createScrubber(sqlite);
  const insertEvent = sqlite.prepare(
    `INSERT INTO events (kind, at, run_id, step_id, session_id, agent_id, swarm_id, project_id, user_id, data)
     VALUES (@kind, @at, @run_id, @step_id, @session_id, @agent_id, @swarm_id, @project_id, @user_id, @data)`,
  );
  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");
  const rollback = sqlite.prepare("ROLLBACK");
  const savepoint = sqlite.prepare("SAVEPOINT inner_write");
  const undo = sqlite.prepare("ROLLBACK TO inner_write");
  const keep = sqlite.prepare("RELEASE inner_write");
  let receive: (events: SkepEvent[]) => void = () => {};
  const authorities = new AsyncLocalStorage<Authority | undefined>();
  let depth = 0;
  let written: SkepEvent[] = [];
  let effects: (() => unknown)[] = [];

  const insert = (definition: EventDefinition, draft: EventDraft): void => {
    const { data, ...refs } = draft;
    const { kind } = definition;
    let json = JSON.stringify(data);
    if (checkEvents) assertFits(definition, ownJson<never>(json));
    if (json.length > LIMITS.eventDataBytes) json = JSON.stringify({ cut: true, text: json.slice(0, 4_096) });
    const at = toTimestamp(clock.now());
    const { lastInsertRowid } = insertEvent.run({ ...NO_REFS, ...refs, kind, at, data: json });
    written.push({ ...refs, kind, data: ownJson<never>(json), id: Number(lastInsertRowid), at });
  };
  const tx: WriteTx = { emit: insert, after: (effect) => void effects.push(effect) };
  const runNow = <T>(change: (tx: WriteTx) => T): T => {
    const result = change(tx);
    if (result instanceof Promise) throw new Error("a transaction must not wait: do the waiting before it");
    return result;
  };

  function runNested<T>(change: (tx: WriteTx) => T): T {
    const [eventsBefore, effectsBefore] = [written.length, effects.length];
    savepoint.run();
    depth++;
    try {
      const result = runNow(change);
      keep.run();
      return result;
    } catch (error) {
      written.length = eventsBefore;
      effects.length = effectsBefore;
      // A full disk may already have rolled back the whole transaction.
      if (sqlite.inTransaction) {
        undo.run();
        keep.run();
      }
      throw error;
    } finally {
      depth--;
    }
  }
  function runOutermost<T>(change: (tx: WriteTx) => T): T {
    const authority = authorities.getStore();
    begin.run();
    depth = 1;
    try {
      authority?.assertHolds();
      soon.insertAll();
      const result = runNow(change);
      authority?.onChange();
      commit.run();
      soon.settle(true);
      return result;
    } catch (error) {
      if (sqlite.inTransaction) rollback.run();
      written = [];
      effects = [];
      soon.settle(false);
      throw error;
    } finally {
      depth = 0;
    }
  }
  /**
   * Delivers events and runs effects. Effects may write, in transactions of their own with their own events and
   * effects.
   */
  function deliver(): void {
    const [events, due] = [written, effects];
    written = [];
    effects = [];
    if (events.length > 0) receive(events);
    for (const effect of due)
      try {
        const done = effect();
        if (done instanceof Promise) done.catch(onEffectError);
      } catch (error) {
        onEffectError(error);
      }
  }
  function runUnsynced<T>(change: (tx: WriteTx) => T): T {
    sqlite.pragma("synchronous = NORMAL");
    try {
      return runOutermost(change);
    } finally {
      sqlite.pragma("synchronous = FULL");
    }
  }
  const writeBy =
    (commit: typeof runOutermost) =>
    <T>(change: (tx: WriteTx) => T): T => {
      if (depth > 0) return runNested(change);
      const result = commit(change);
      // Receivers and effects act in their own right, not for the caller of the change.
      authorities.run(undefined, deliver);
      return result;
    };
  const [write, note] = [writeBy(runOutermost), writeBy(runUnsynced)];
  const soon = createSoonQueue({
    insert,
    // Text chunks may be lost in a power failure but not when the process dies, so they alone cause no fsync.
    commit: () => note(() => {}),
    mayCommit: () => depth === 0 && sqlite.open,
  });
  return {
    sqlite,
    statement,
    rows: (table) => createRows(statement, table),
    write,
    note,
    runAs: (authority, work) => authorities.run(authority, work),
    emitSoon: soon.add,
    flush: soon.flush,
    scrub: scrubber.scrub,
    onCommit(next) {
      receive = next;
    },
    close() {
      try {
        soon.flush();
      } catch {
        // Closing continues; only queued text is lost.
      }
      soon.stop();
      sqlite.close();
      scrubber.close();
    },
  };
}

const NO_REFS = {
  run_id: null,
  step_id: null,
  session_id: null,
  agent_id: null,
  swarm_id: null,
  project_id: null,
  user_id: null,
};

function assertFits(definition: EventDefinition, data: object): void {
  const faults = faultsOf(definition, data);
  if (faults.length > 0)
    throw new Error(`data of the event ${definition.kind} does not match its schema: ${faults.join("; ")}`);
}
