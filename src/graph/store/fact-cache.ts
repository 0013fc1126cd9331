/**
 * Facts of every file of the last index, so that only changed files are parsed again: a small table of files and a
 * large file of packed facts, read only when needed. A broken or older cache is simply empty.
 */
import { readFileSync } from "node:fs";
import { FACTS_VERSION } from "../parse/fact-layout.ts";
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
}

const CACHE_FORMAT = 1;
const EMPTY = new Uint8Array(0);

/** The cached files by path; empty when there is no usable cache. `table` and `data` are the paths of its two files. */
export function readFactCache(table: string, data: string): Map<string, CachedFile> {
  const cached = new Map<string, CachedFile>();
  try {
    const reader = readColumns(readFileSync(table));
    const meta = reader?.meta as { format: number; facts: number } | undefined;
    if (!reader || meta?.format !== CACHE_FORMAT || meta.facts !== FACTS_VERSION) return cached;
    const paths = reader.strings("path");
    const hashes = reader.strings("hash");
    const notes = reader.strings("note");
    const sizes = reader.numbers("size");
    const times = reader.numbers("modified");
    const offsets = reader.numbers("offset");
    let all: Uint8Array | undefined;
    for (const [i, path] of paths.entries()) {
      cached.set(path, {
        path,
        size: sizes[i]!,
        modified: times[i]!,
        hash: hashes[i]!,
        note: notes[i]!,
        facts() {
          all ??= readFileSync(data);
          return all.subarray(offsets[i]! * 8, offsets[i + 1]! * 8);
        },
      });
    }
  } catch {
    cached.clear();
  }
  return cached;
}

/** Packs files for `readFactCache`. Each file's facts start at a multiple of eight bytes. */
export function packFactCache(files: readonly CachedFile[]): { table: Uint8Array; data: Uint8Array } {
  const offsets = new Float64Array(files.length + 1);
  const facts = files.map((file) => (file.note === "" ? file.facts() : EMPTY));
  for (let i = 0; i < files.length; i++) offsets[i + 1] = offsets[i]! + Math.ceil(facts[i]!.length / 8);
  const data = new Uint8Array(offsets[files.length]! * 8);
  for (let i = 0; i < files.length; i++) data.set(facts[i]!, offsets[i]! * 8);
  const columns = new Map<string, Column>([
    ["path", files.map((file) => file.path)],
    ["hash", files.map((file) => file.hash)],
    ["note", files.map((file) => file.note)],
    ["size", Float64Array.from(files, (file) => file.size)],
    ["modified", Float64Array.from(files, (file) => file.modified)],
    ["offset", offsets],
  ]);
  return { table: packColumns(columns, { format: CACHE_FORMAT, facts: FACTS_VERSION }), data };
}
