/**
 * Facts of every file of the last index, so that only changed files are parsed again.
 *
 * A small table of files, and segments of packed facts. A segment never changes: the next generation links those it
 * still needs and writes new facts into another one. Too many segments, or mostly stale ones, are merged. A broken or
 * older cache counts as empty.
 */
import {
  closeSync,
  copyFileSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writevSync,
} from "node:fs";
import { join } from "node:path";
import { FACTS_VERSION } from "../language/fact-layout.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

export interface CachedFile {
  path: string;
  /** Bytes of the file as it was read. */
  size: number;
  /** Milliseconds since 1970 of its last change. */
  modified: number;
  /** Hash of the content. */
  hash: string;
  /** Why there are no facts: skipped or failed; "" when there are. */
  note: string;
  /** Packed facts, read on demand; empty with a note. */
  facts(): Uint8Array;
  /** Where the facts lie in the cache that the file came from; undefined for new ones. */
  stored?: Stored;
}

/** A place in a segment, in units of eight bytes. */
interface Stored {
  segment: number;
  offset: number;
  length: number;
}

export interface FactCache {
  files: Map<string, CachedFile>;
  /** Hash over the configuration files that the index was made with. */
  configs: string;
  /** Paths of the segments, and their lengths in units of eight bytes. */
  segments: { path: string; length: number }[];
}

interface Meta {
  format: number;
  facts: number;
  configs: string;
  /** Lengths of the segments. */
  segments: number[];
}

const CACHE_FORMAT = 2;
/** More segments than this are merged, and so are those of which less than half is still needed. */
const MAX_SEGMENTS = 8;
const UNIT = 8;
const EMPTY = new Uint8Array(0);

const tablePath = (folder: string): string => join(folder, "files.bin");
const segmentPath = (folder: string, segment: number): string => join(folder, `facts-${segment}.bin`);

/** The cache in a generation's folder; an empty one when there is none that can be used. */
export function readFactCache(folder: string | undefined): FactCache {
  const cache: FactCache = { files: new Map(), configs: "", segments: [] };
  if (folder === undefined) return cache;
  try {
    const reader = readColumns(readFileSync(tablePath(folder)));
    const meta = reader?.meta as Meta | undefined;
    if (!reader || meta?.format !== CACHE_FORMAT || meta.facts !== FACTS_VERSION) return cache;
    const segments = meta.segments.map((length, i) => ({ path: segmentPath(folder, i), length }));
    if (segments.some(({ path, length }) => statSync(path).size !== length * UNIT)) return cache;
    const paths = reader.strings("path");
    const hashes = reader.strings("hash");
    const notes = reader.strings("note");
    const sizes = reader.numbers("size");
    const times = reader.numbers("modified");
    const places = reader.numbers("place");
    const data: Uint8Array[] = [];
    for (const [i, path] of paths.entries()) {
      const [segment, offset, length] = [places[i * 3]!, places[i * 3 + 1]!, places[i * 3 + 2]!];
      cache.files.set(path, {
        path,
        size: sizes[i]!,
        modified: times[i]!,
        hash: hashes[i]!,
        note: notes[i]!,
        stored: { segment, offset, length },
        facts() {
          if (length === 0) return EMPTY;
          data[segment] ??= mapFile(segments[segment]!.path);
          return data[segment].subarray(offset * UNIT, (offset + length) * UNIT);
        },
      });
    }
    return { ...cache, configs: meta.configs, segments };
  } catch {
    return { files: new Map(), configs: "", segments: [] };
  }
}

/**
 * A file's bytes, of which those are loaded that somebody reads: an edit reads a fraction of them. Of a map of its own,
 * no write would reach the file. The file must not become shorter while it is in use, and a segment never changes.
 */
function mapFile(path: string): Uint8Array {
  try {
    return Bun.mmap(path, { shared: false });
  } catch {
    // A file system without maps, or one that nobody may write to.
    return readFileSync(path);
  }
}

/** Writes the cache of a new generation. `before` is the cache that stored files come from. */
export function writeFactCache(folder: string, files: readonly CachedFile[], configs: string, before: FactCache): void {
  const kept = keptSegments(files, before);
  const fresh: Uint8Array[] = [];
  let freshLength = 0;
  const segments = kept.map((segment, i) => {
    linkOrCopy(before.segments[segment]!.path, segmentPath(folder, i));
    return before.segments[segment]!.length;
  });
  const places = new Float64Array(files.length * 3);
  for (const [i, file] of files.entries()) {
    const at = file.stored ? kept.indexOf(file.stored.segment) : -1;
    if (at >= 0) places.set([at, file.stored!.offset, file.stored!.length], i * 3);
    else if (file.note === "") {
      const facts = file.facts();
      const length = Math.ceil(facts.length / UNIT);
      places.set([kept.length, freshLength, length], i * 3);
      fresh.push(facts, new Uint8Array(length * UNIT - facts.length));
      freshLength += length;
    }
  }
  if (freshLength > 0) {
    writeParts(segmentPath(folder, kept.length), fresh);
    segments.push(freshLength);
  }
  const columns = new Map<string, Column>([
    ["path", files.map((file) => file.path)],
    ["hash", files.map((file) => file.hash)],
    ["note", files.map((file) => file.note)],
    ["size", Float64Array.from(files, (file) => file.size)],
    ["modified", Float64Array.from(files, (file) => file.modified)],
    ["place", places],
  ]);
  const meta: Meta = { format: CACHE_FORMAT, facts: FACTS_VERSION, configs, segments };
  writeFileSync(tablePath(folder), packColumns(columns, meta));
}

/** Segments worth keeping: none when there are too many, or when most of their content is stale. */
function keptSegments(files: readonly CachedFile[], before: FactCache): number[] {
  const used = new Map<number, number>();
  for (const { stored } of files)
    if (stored && stored.length > 0) used.set(stored.segment, (used.get(stored.segment) ?? 0) + stored.length);
  const kept = [...used.keys()].sort((a, b) => a - b);
  const live = kept.reduce((sum, segment) => sum + used.get(segment)!, 0);
  const all = kept.reduce((sum, segment) => sum + before.segments[segment]!.length, 0);
  return kept.length >= MAX_SEGMENTS || live * 2 < all ? [] : kept;
}

/** Parts that one system call takes. */
const PARTS_AT_ONCE = 1_000;

/** Writes parts one after another without joining them in memory. */
function writeParts(path: string, parts: readonly Uint8Array[]): void {
  const file = openSync(path, "w");
  try {
    for (let at = 0; at < parts.length; at += PARTS_AT_ONCE) writevSync(file, parts.slice(at, at + PARTS_AT_ONCE));
  } finally {
    closeSync(file);
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // A file system without links.
    copyFileSync(from, to);
  }
}
