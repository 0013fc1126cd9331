/**
 * Returns the space of deleted rows, and leaves no byte of them in the database's file, its text indexes or its WAL.
 */
import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import type Database from "better-sqlite3";

/** A larger database is not rewritten while a start waits for it; it is used as it is. */
const MOST_BYTES = 2 * 1024 ** 3;
/** Free space needed per byte: `VACUUM` writes the database into the WAL and into a temporary copy. */
const ROOM = 2.2;
const INCREMENTAL = 2;
/** Pages moved per step: about a millisecond per hundred. */
const PAGES = 200;
const TEXT_INDEXES = ["run_trigrams", "task_trigrams", "document_text", "memory_text"];
const PAUSE_MS = 5;
const CHECKPOINT_TRIES = 50;
const CHECKPOINT_PAUSE_MS = 100;

/** Whether the file can release free pages in small steps. */
export const isShrinkable = (sqlite: Database.Database): boolean =>
  sqlite.pragma("auto_vacuum", { simple: true }) === INCREMENTAL;

/**
 * Rewrites a database of an earlier version once, so that it can shrink and holds no rows deleted earlier. Does nothing
 * when the database is large or there is little free space.
 */
export function makeShrinkable(sqlite: Database.Database, path: string): void {
  if (isShrinkable(sqlite)) return;
  const { size } = statSync(path);
  const { bavail, bsize } = statfsSync(dirname(path));
  if (size <= MOST_BYTES && bavail * bsize > size * ROOM) rewrite(sqlite);
}

/** Rewrites the whole database. Nothing else may write meanwhile. */
export function rewrite(sqlite: Database.Database): void {
  // The temporary copy may be larger than memory.
  sqlite.pragma("temp_store = FILE");
  try {
    sqlite.pragma("auto_vacuum = INCREMENTAL");
    sqlite.exec("VACUUM");
    truncateWal(sqlite);
  } finally {
    sqlite.pragma("temp_store = MEMORY");
  }
}

interface Shrunk {
  /** Bytes by which the database's file shrank. */
  freed: number;
  /** False when another process held the WAL all the time; it will be emptied next time. */
  isWalEmpty: boolean;
}

/**
 * Merges the text indexes, so that no part of them holds deleted text; releases free pages; empties the WAL. Works in
 * small steps, between which others can write. @throws the signal's reason.
 */
export async function shrink(sqlite: Database.Database, signal: AbortSignal): Promise<Shrunk> {
  const pageSize = Number(sqlite.pragma("page_size", { simple: true }));
  const countPages = () => Number(sqlite.pragma("page_count", { simple: true }));
  const before = countPages();
  const pause = async () => {
    signal.throwIfAborted();
    await setTimeout(PAUSE_MS);
  };
  for (const index of TEXT_INDEXES) {
    const merge = sqlite.prepare(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`);
    const changes = sqlite.prepare<[], number>("SELECT total_changes()").pluck();
    // The first call starts a merge of all parts, and further calls continue it. Fewer than two changes mean that it is
    // done.
    for (let most = -PAGES; ; most = PAGES) {
      const from = changes.get()!;
      merge.run(most);
      if (changes.get()! - from < 2) break;
      await pause();
    }
  }
  if (isShrinkable(sqlite))
    for (let left = countFree(sqlite); left > 0; ) {
      sqlite.exec(`PRAGMA incremental_vacuum(${PAGES})`);
      const now = countFree(sqlite);
      if (now === left) break;
      left = now;
      await pause();
    }
  const isWalEmpty = await emptyWal(sqlite, signal);
  return { freed: Math.max(0, before - countPages()) * pageSize, isWalEmpty };
}

const countFree = (sqlite: Database.Database): number => Number(sqlite.pragma("freelist_count", { simple: true }));

/** Empties the WAL with retries, because a reader in another process, such as a backup, holds it while it reads. */
async function emptyWal(sqlite: Database.Database, signal: AbortSignal): Promise<boolean> {
  for (let tries = 0; tries < CHECKPOINT_TRIES; tries++) {
    if (truncateWal(sqlite)) return true;
    signal.throwIfAborted();
    await setTimeout(CHECKPOINT_PAUSE_MS);
  }
  return false;
}

/** Empties the WAL without waiting for readers, which would block this thread. @returns whether it is empty now. */
export function truncateWal(sqlite: Database.Database): boolean {
  const patience = Number(sqlite.pragma("busy_timeout", { simple: true }));
  sqlite.pragma("busy_timeout = 0");
  try {
    return sqlite.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
  } finally {
    sqlite.pragma(`busy_timeout = ${patience}`);
  }
}
