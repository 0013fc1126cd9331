/**
 * The facts of every file of the last index, so that only changed files are parsed again.
 *
 * The cache is a small table of files plus segments of packed facts. A segment never changes: the next generation links
 * the segments that it still needs, and writes new facts to a new segment. If there are too many segments, or mostly
 * stale ones, all facts are written to one segment. A broken or older cache counts as empty.
 */
import { copyFileSync, linkSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FACTS_VERSION } from "../language/fact-layout.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";
import { type Place, Segment, SegmentWriter } from "./fact-segment.ts";

export interface CachedFile {
  path: string;
  /** Size of the file when it was read, bytes. */
  size: number;
  /** When the file was last changed, ms since 1970. */
  modified: number;
  /** Hash of the content. */
  hash: string;
  /** "" if there are facts. Otherwise why there are none: the file was skipped or failed. */
  note: string;
  /** Reads the packed facts; empty if `note` is set. */
  facts(): Uint8Array;
  /** Where the facts are on disk; undefined if they are only in memory. */
  stored?: Stored;
}

/** A place in a segment. */
interface Stored extends Place {
  segment: Segment;
}

const NO_FACTS = new Uint8Array(0);

/** The facts of a file that are stored on disk, read on demand. */
export function factsIn(stored: Stored | undefined): Pick<CachedFile, "facts" | "stored"> {
  return stored ? { stored, facts: () => stored.segment.read(stored) } : { facts: () => NO_FACTS };
}

export interface FactCache {
  files: Map<string, CachedFile>;
  /** Hash of the configuration files with which the index was made. */
  configs: string;
  segments: Segment[];
}

interface Meta {
  format: number;
  facts: number;
  configs: string;
  /** Lengths of the segments, in units of eight bytes. */
  segments: number[];
}

const CACHE_FORMAT = 2;
/** If there are this many segments, or less than half of their content is still needed, all are merged into one. */
const MAX_SEGMENTS = 16;

const tablePath = (folder: string): string => join(folder, "files.bin");
const segmentPath = (folder: string, segment: number): string => join(folder, `facts-${segment}.bin`);

/** Reads the cache in a generation's folder. It is empty if there is none that can be used. */
export function readFactCache(folder: string | undefined): FactCache {
  const cache: FactCache = { files: new Map(), configs: "", segments: [] };
  if (folder === undefined) return cache;
  try {
    const reader = readColumns(readFileSync(tablePath(folder)));
    const meta = reader?.meta as Meta | undefined;
    if (!reader || meta?.format !== CACHE_FORMAT || meta.facts !== FACTS_VERSION) return cache;
    const segments = meta.segments.map((length, i) => new Segment(segmentPath(folder, i), length));
    if (!segments.every((segment) => segment.isWholeIn(statSync(segment.path).size))) return cache;
    const paths = reader.strings("path");
    const hashes = reader.strings("hash");
    const notes = reader.strings("note");
    const sizes = reader.numbers("size");
    const times = reader.numbers("modified");
    const places = reader.numbers("place");
    for (const [i, path] of paths.entries()) {
      const [size, modified, hash, note] = [sizes[i]!, times[i]!, hashes[i]!, notes[i]!];
      const segment = segments[places[i * 3]!];
      const stored =
        segment && note === "" ? { segment, offset: places[i * 3 + 1]!, length: places[i * 3 + 2]! } : undefined;
      cache.files.set(path, { path, size, modified, hash, note, ...factsIn(stored) });
    }
    return { ...cache, configs: meta.configs, segments };
  } catch {
    return { files: new Map(), configs: "", segments: [] };
  }
}

/** Writes the cache of a new generation. */
export function writeFactCache(folder: string, files: readonly CachedFile[], configs: string): void {
  const kept = chooseSegments(files);
  for (const [i, { path }] of kept.entries()) linkOrCopy(path, segmentPath(folder, i));
  const places = new Float64Array(files.length * 3);
  const put = (file: number, segment: number, { offset, length }: Place) =>
    places.set([segment, offset, length], file * 3);
  const fresh: number[] = [];
  for (const [i, { stored, note }] of files.entries()) {
    const at = stored ? kept.indexOf(stored.segment) : -1;
    if (stored && at >= 0) put(i, at, stored);
    else if (note === "") fresh.push(i);
  }
  const segments = [...kept];
  if (fresh.length > 0) {
    using writer = new SegmentWriter(segmentPath(folder, kept.length));
    const written = writer.append(fresh.map((i) => files[i]!.facts()));
    for (const [at, i] of fresh.entries()) put(i, kept.length, written[at]!);
    segments.push(writer.segment);
  }
  const columns = new Map<string, Column>([
    ["path", files.map((file) => file.path)],
    ["hash", files.map((file) => file.hash)],
    ["note", files.map((file) => file.note)],
    ["size", Float64Array.from(files, (file) => file.size)],
    ["modified", Float64Array.from(files, (file) => file.modified)],
    ["place", places],
  ]);
  const lengths = segments.map(({ length }) => length);
  const meta: Meta = { format: CACHE_FORMAT, facts: FACTS_VERSION, configs, segments: lengths };
  writeFileSync(tablePath(folder), packColumns(columns, meta));
}

/** The segments to keep. There are none if too many would remain, or if most of their content is stale. */
function chooseSegments(files: readonly CachedFile[]): Segment[] {
  const used = new Map<Segment, number>();
  for (const { stored } of files)
    if (stored && stored.length > 0) used.set(stored.segment, (used.get(stored.segment) ?? 0) + stored.length);
  const kept = [...used.keys()];
  const live = kept.reduce((sum, segment) => sum + used.get(segment)!, 0);
  const all = kept.reduce((sum, segment) => sum + segment.length, 0);
  return kept.length >= MAX_SEGMENTS || live * 2 < all ? [] : kept;
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // The file system has no hard links.
    copyFileSync(from, to);
  }
}
