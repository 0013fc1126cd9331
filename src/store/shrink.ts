/** Giving back what deleted rows took, and leaving no byte of them: in the database's file, its indexes of texts and its WAL. */
import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import type Database from "better-sqlite3";

/** A larger database is not rewritten while a start waits for it: it is used as it is. */
const MOST_BYTES = 2 * 1024 ** 3;
/** `VACUUM` writes the database into the WAL, beside a temporary copy. */
const ROOM = 2.2;
const INCREMENTAL = 2;
/** Pages moved at a time: about a millisecond each hundred. */
const PAGES = 200;
const TEXT_INDEXES = ["run_trigrams", "task_trigrams", "document_text", "memory_text"];
const PAUSE_MS = 5;
const CHECKPOINT_TRIES = 50;
const CHECKPOINT_PAUSE_MS = 100;

/** Whether the file can give back free pages in small steps. */
export const isShrinkable = (sqlite: Database.Database): boolean =>
  sqlite.pragma("auto_vacuum", { simple: true }) === INCREMENTAL;

/**
 * Rewrites a database of an earlier version once, so that it can shrink, and so that nothing deleted earlier is in it. Does
 * nothing where it is large or there is little room.
 */
export function makeShrinkable(sqlite: Database.Database, path: string): void {
  if (isShrinkable(sqlite)) return;
  const { size } = statSync(path);
  const { bavail, bsize } = statfsSync(dirname(path));
  if (size <= MOST_BYTES && bavail * bsize > size * ROOM) rewrite(sqlite);
}

/** Rewrites the whole database. Nobody else may write meanwhile. */
export function rewrite(sqlite: Database.Database): void {
  // The copy may be larger than memory.
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
  /** Bytes that the database's file gave back. */
  freed: number;
  /** False: another process held the WAL all the time. It is emptied at its next turn. */
  isWalEmpty: boolean;
}

/**
 * Merges the indexes of texts, so that what was deleted is in none of their parts; gives free pages back; empties the WAL.
 * In small steps: others write between them. @throws what `signal` says.
 */
export async function shrink(sqlite: Database.Database, signal: AbortSignal): Promise<Shrunk> {
  const pageSize = Number(sqlite.pragma("page_size", { simple: true }));
  const pages = () => Number(sqlite.pragma("page_count", { simple: true }));
  const before = pages();
  const pause = async () => {
    signal.throwIfAborted();
    await setTimeout(PAUSE_MS);
  };
  for (const index of TEXT_INDEXES) {
    const merge = sqlite.prepare(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`);
    const changes = sqlite.prepare<[], number>("SELECT total_changes()").pluck();
    // The first call takes all parts into the merge, the others go on with it; less than two changes: it is done.
    for (let most = -PAGES; ; most = PAGES) {
      const from = changes.get()!;
      merge.run(most);
      if (changes.get()! - from < 2) break;
      await pause();
    }
  }
  if (isShrinkable(sqlite))
    for (let left = free(sqlite); left > 0; ) {
      sqlite.exec(`PRAGMA incremental_vacuum(${PAGES})`);
      const now = free(sqlite);
      if (now === left) break;
      left = now;
      await pause();
    }
  const isWalEmpty = await emptyWal(sqlite, signal);
  return { freed: Math.max(0, before - pages()) * pageSize, isWalEmpty };
}

const free = (sqlite: Database.Database): number => Number(sqlite.pragma("freelist_count", { simple: true }));

/** A reader in another process, such as a backup, holds the WAL while it reads. */
async function emptyWal(sqlite: Database.Database, signal: AbortSignal): Promise<boolean> {
  for (let tries = 0; tries < CHECKPOINT_TRIES; tries++) {
    if (truncateWal(sqlite)) return true;
    signal.throwIfAborted();
    await setTimeout(CHECKPOINT_PAUSE_MS);
  }
  return false;
}

/** Does not wait for readers, which would hold up this thread. @returns whether it is empty now. */
export function truncateWal(sqlite: Database.Database): boolean {
  const patience = Number(sqlite.pragma("busy_timeout", { simple: true }));
  sqlite.pragma("busy_timeout = 0");
  try {
    return sqlite.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
  } finally {
    sqlite.pragma(`busy_timeout = ${patience}`);
  }
}
