/**
 * Overwrites what SQLite leaves in its pages. `secure_delete` zeroes deleted rows. But when SQLite moves rows between
 * pages to balance a tree, their old copies remain in the gap between a page's cell pointers and its cells. A row that
 * was moved and then deleted would stay readable in the file. Only a `VACUUM` overwrites that gap, and it blocks every
 * writer while it runs.
 *
 * So the gaps are zeroed in the file itself, a few pages at a time. Their bytes have no meaning: a concurrent reader,
 * or a power failure in between, finds a valid page either way. Each step needs
 * - an empty WAL: a newer version of a page in it would be written over what was zeroed;
 * - the write lock, so that the WAL stays empty;
 * - that this connection, the only writer, drops its cached pages: it would write their old gaps again.
 *
 * Format: https://www.sqlite.org/fileformat2.html (§1.5 pointer maps, §1.6 pages).
 */
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type Database from "better-sqlite3";
import { isShrinkable, truncateWal } from "./shrink.ts";

/** Pages per step: 2 MB, a few milliseconds. */
const PAGES = 500;
const PAUSE_MS = 2;
const TRIES = 50;
const RETRY_MS = 100;
/** SQLite uses the page at 1 GiB for byte locks, and stores nothing in it. */
const LOCK_BYTE = 2 ** 30;
const POINTER_BYTES = 5;
const ROOT_PAGE = 1;
const TREE_PAGE = 5;
/** Header bytes of a page, by its type. Interior pages have an additional pointer. */
const HEADERS = new Map([
  [2, 12],
  [5, 12],
  [10, 8],
  [13, 8],
]);

export type Scrubber = ReturnType<typeof createScrubber>;

export function createScrubber(sqlite: Database.Database) {
  let fd: number | undefined;

  /** @returns the page after the last one processed; undefined when the WAL cannot be emptied now. */
  function scrubSome(from: number): number | undefined {
    if (!truncateWal(sqlite)) return undefined;
    sqlite.exec("BEGIN IMMEDIATE");
    try {
      if (statSync(`${sqlite.name}-wal`).size > 0) return undefined;
      fd ??= openSync(sqlite.name, "r+");
      const to = zeroGaps(fd, readShape(sqlite), from);
      sqlite.pragma("shrink_memory");
      return to;
    } finally {
      sqlite.exec("COMMIT");
    }
  }

  return {
    /**
     * Zeroes the gaps of all pages. @throws the signal's reason.
     * @returns false when that is not possible: another process reads all the time, or the database cannot shrink.
     */
    async scrub(signal: AbortSignal): Promise<boolean> {
      if (!isShrinkable(sqlite)) return false;
      const countPages = () => Number(sqlite.pragma("page_count", { simple: true }));
      // The first page holds the schema and is always cached.
      for (let [page, tries] = [2, 0]; page <= countPages(); ) {
        const next = scrubSome(page);
        if (next === undefined && ++tries > TRIES) return false;
        page = next ?? page;
        signal.throwIfAborted();
        await setTimeout(next === undefined ? RETRY_MS : PAUSE_MS);
      }
      if (fd !== undefined) fsyncSync(fd);
      return true;
    },
    /**
     * Call it only after the database was closed: closing any descriptor of a file drops all locks that the process
     * holds on it.
     */
    close(): void {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

interface Shape {
  /** In bytes. */
  pageSize: number;
  pages: number;
}

const readShape = (sqlite: Database.Database): Shape => ({
  pageSize: Number(sqlite.pragma("page_size", { simple: true })),
  pages: Number(sqlite.pragma("page_count", { simple: true })),
});

/** @returns the page after the last one. */
function zeroGaps(fd: number, { pageSize, pages }: Shape, from: number): number {
  const to = Math.min(from + PAGES, pages + 1);
  const bytes = Buffer.alloc((to - from) * pageSize);
  readWhole(fd, bytes, (from - 1) * pageSize);
  const isTree = createPointerMaps(fd, pageSize);
  for (let page = from; page < to; page++) {
    const at = (page - from) * pageSize;
    const gap = isTree(page) ? findGap(bytes.subarray(at, at + pageSize)) : undefined;
    if (!gap) continue;
    const zeros = Buffer.alloc(gap.end - gap.start);
    if (zeros.equals(bytes.subarray(at + gap.start, at + gap.end))) continue;
    for (let done = 0; done < zeros.length; )
      done += writeSync(fd, zeros, done, zeros.length - done, (page - 1) * pageSize + gap.start + done);
  }
  return to;
}

/**
 * Reads the pointer maps to tell whether a page belongs to a tree. SQLite zeroes all other pages itself when it frees
 * them.
 */
function createPointerMaps(fd: number, pageSize: number): (page: number) => boolean {
  const perMap = Math.floor(pageSize / POINTER_BYTES);
  const lockPage = LOCK_BYTE / pageSize + 1;
  const map = Buffer.alloc(pageSize);
  let current = 0;
  return (page) => {
    const first = Math.floor((page - 2) / (perMap + 1)) * (perMap + 1) + 2;
    const mapPage = first === lockPage ? first + 1 : first;
    if (page === lockPage || page <= mapPage) return false;
    if (mapPage !== current) readWhole(fd, map, (mapPage - 1) * pageSize);
    current = mapPage;
    const type = map[POINTER_BYTES * (page - mapPage - 1)];
    return type === ROOT_PAGE || type === TREE_PAGE;
  };
}

/**
 * The bytes between a page's cell pointers and its first cell. Undefined when the page belongs to no tree, or has no
 * gap.
 */
function findGap(page: Buffer): { start: number; end: number } | undefined {
  const header = HEADERS.get(page[0]!);
  if (header === undefined) return undefined;
  const start = header + 2 * page.readUInt16BE(3);
  // 0 stands for 65,536.
  const end = page.readUInt16BE(5) || 65_536;
  return start < end && end <= page.length ? { start, end } : undefined;
}

function readWhole(fd: number, into: Buffer, position: number): void {
  for (let done = 0; done < into.length; ) {
    const read = readSync(fd, into, done, into.length - done, position + done);
    if (read === 0) throw new Error("the database's file is shorter than it says");
    done += read;
  }
}
