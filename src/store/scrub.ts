/**
 * Overwriting what SQLite leaves in its pages. `secure_delete` zeroes rows that are deleted; but when SQLite moves rows between
 * pages to balance a tree, their old copies stay in the gap between a page's cell pointers and its cells. A row that was
 * moved and then deleted would stay readable in the file. Nothing in SQLite overwrites that gap, except for a `VACUUM`, which
 * holds up every writer for as long as it takes.
 *
 * So the gaps are zeroed in the file itself, a few pages at a time. Nobody interprets their bytes: a reader beside it, or a
 * power failure in the middle, sees a valid page either way. Each step needs
 * - an empty WAL: a newer version of a page in there would be written over what was zeroed;
 * - the write lock, so that the WAL stays empty;
 * - that this connection, the only one that writes, forgets its copies of pages: it would write their gaps again.
 *
 * Format: https://www.sqlite.org/fileformat2.html (§1.5 pointer maps, §1.6 pages).
 */
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type Database from "better-sqlite3";
import { isShrinkable, truncateWal } from "./shrink.ts";

/** Of one step: 2 MB, a few milliseconds. */
const PAGES = 500;
const PAUSE_MS = 2;
const TRIES = 50;
const RETRY_MS = 100;
/** SQLite locks bytes of the page at 1 GiB, and stores nothing there. */
const LOCK_BYTE = 2 ** 30;
const POINTER_BYTES = 5;
const ROOT_PAGE = 1;
const TREE_PAGE = 5;
/** Bytes of a page's header, by its type. Interior pages have a pointer more. */
const HEADERS = new Map([
  [2, 12],
  [5, 12],
  [10, 8],
  [13, 8],
]);

export type Scrubber = ReturnType<typeof createScrubber>;

export function createScrubber(sqlite: Database.Database) {
  let fd: number | undefined;

  /** @returns the page after the last that was looked at; undefined where the WAL cannot be emptied now. */
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
     * Zeroes the gaps of all pages. @throws what `signal` says.
     * @returns false where that cannot be: another process reads all the time, or the database was never made shrinkable.
     */
    async scrub(signal: AbortSignal): Promise<boolean> {
      if (!isShrinkable(sqlite)) return false;
      const pages = () => Number(sqlite.pragma("page_count", { simple: true }));
      // The first page holds the schema and is always in memory.
      for (let [page, tries] = [2, 0]; page <= pages(); ) {
        const next = scrubSome(page);
        if (next === undefined && ++tries > TRIES) return false;
        page = next ?? page;
        signal.throwIfAborted();
        await setTimeout(next === undefined ? RETRY_MS : PAUSE_MS);
      }
      if (fd !== undefined) fsyncSync(fd);
      return true;
    },
    /** Only after the database was closed: closing any descriptor of a file drops every lock that the process holds on it. */
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

/** What the pointer maps say of a page: whether it is one of a tree. All other pages are zeroed by SQLite when they are freed. */
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

/** The bytes between the pointers to a page's cells and the first of them. Undefined where the page is none of a tree. */
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
