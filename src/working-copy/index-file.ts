/**
 * Git's index of a working copy, version 2: paths, what is known of their content, and how each file looked when it
 * was read. Whoever compares a working copy with it needs to read only files that look different.
 * Format: gitformat-index(5). Paths are `latin1`: one character a byte.
 */
import { open } from "node:fs/promises";
import { sortedInTurns, takeTurns } from "../core/turns.ts";
import type { FileStat } from "./libc.ts";

const HEADER_BYTES = 12;
const STAT_BYTES = 40;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const MAX_NAME = 0xfff;
const ROWS_AT_ONCE = 512;
/** Written at once. */
const PIECE_BYTES = 1024 * 1024;

export const GITLINK = 0o160000;
export const LINK = 0o120000;
export const FILE = 0o100644;
export const PROGRAM = 0o100755;

/** `sha1` or `sha256`, by the repository's format. */
export type HashName = "sha1" | "sha256";
export const hashOf = (objectId: string): HashName => (objectId.length === 64 ? "sha256" : "sha1");
const hashBytes = (hash: HashName) => (hash === "sha256" ? 32 : 20);

export class GitIndex {
  private constructor(
    private readonly bytes: Buffer,
    readonly hash: HashName,
    /** Where each entry begins, and the end of the last. */
    private readonly offsets: Uint32Array,
    /** Rows by path, in the order of paths. */
    readonly rows: ReadonlyMap<string, number>,
    /** The tree that it stands for; undefined when git has not said. */
    readonly tree: string | undefined,
    /** Files that changed since are not trusted: when the index was written, in seconds. */
    private readonly writtenSeconds: number,
  ) {}

  /** @returns undefined for what is damaged, of another version, or in the middle of a merge. */
  static async parse(bytes: Buffer, hash: HashName, writtenSeconds: number): Promise<GitIndex | undefined> {
    if (bytes.length < HEADER_BYTES + hashBytes(hash)) return undefined;
    if (bytes.toString("latin1", 0, 4) !== "DIRC" || bytes.readUInt32BE(4) !== 2) return undefined;
    const count = bytes.readUInt32BE(8);
    const end = bytes.length - hashBytes(hash);
    if (count > end / STAT_BYTES) return undefined;
    const offsets = new Uint32Array(count + 1);
    const rows = new Map<string, number>();
    const flagsAt = STAT_BYTES + hashBytes(hash);
    const turn = takeTurns();
    let at = HEADER_BYTES;
    for (let row = 0; row < count; row++) {
      if (row % ROWS_AT_ONCE === 0) await turn();
      const start = at + flagsAt + 2;
      if (start >= end || (bytes.readUInt16BE(at + flagsAt) & (EXTENDED | STAGE)) !== 0) return undefined;
      const stop = bytes.indexOf(0, start);
      if (stop < 0 || stop >= end) return undefined;
      offsets[row] = at;
      rows.set(bytes.toString("latin1", start, stop), row);
      at += paddedSize(stop - at);
    }
    if (at > end || rows.size !== count) return undefined;
    offsets[count] = at;
    return new GitIndex(bytes, hash, offsets, rows, rootTree(bytes.subarray(at, end), hash), writtenSeconds);
  }

  /** An index of these entries, in any order; a path at most once. */
  static async of(entries: readonly NewEntry[], hash: HashName): Promise<GitIndex> {
    const sorted = await sortedInTurns(entries, (a, b) => a.path < b.path);
    const bytes = Buffer.concat([header(sorted.length), ...sorted.map(packEntry), Buffer.alloc(hashBytes(hash))]);
    const made = await GitIndex.parse(bytes, hash, 0);
    if (!made) throw new Error("an index of entries that cannot be in one");
    return made;
  }

  mode(row: number): number {
    return this.bytes.readUInt32BE(this.offsets[row]! + 24);
  }

  /** Hash of the content, as hexadecimal digits. */
  objectId(row: number): string {
    const start = this.offsets[row]! + STAT_BYTES;
    return this.bytes.toString("hex", start, start + hashBytes(this.hash));
  }

  /** Entries as they stand in the file, from one row to before another. */
  raw(from: number, to: number): Buffer {
    return this.bytes.subarray(this.offsets[from], this.offsets[to]);
  }

  /** Whether the file looks as when its content was read. */
  looksSame(row: number, stat: FileStat): boolean {
    const { bytes } = this;
    const at = this.offsets[row]!;
    return (
      bytes.readUInt32BE(at + 12) === stat.modifiedNanoseconds &&
      bytes.readUInt32BE(at + 4) === stat.changedNanoseconds &&
      bytes.readUInt32BE(at + 36) === stat.size >>> 0 &&
      bytes.readUInt32BE(at + 8) === stat.modifiedSeconds >>> 0 &&
      bytes.readUInt32BE(at) === stat.changedSeconds >>> 0 &&
      bytes.readUInt32BE(at + 20) === stat.inode &&
      bytes.readUInt32BE(at + 24) === modeOf(stat) &&
      bytes.readUInt32BE(at + 28) === stat.uid &&
      bytes.readUInt32BE(at + 32) === stat.gid &&
      stat.modifiedSeconds + stat.modifiedNanoseconds / 1e9 < this.writtenSeconds
    );
  }
}

/** A file's mode as git keeps it. */
export function modeOf({ kind, mode }: FileStat): number {
  if (kind === "link") return LINK;
  return mode & 0o100 ? PROGRAM : FILE;
}

/** An entry's bytes, and one to eight NULs to a multiple of eight. */
const paddedSize = (bytes: number): number => (bytes + 8) & ~7;

/** The root of the extension `TREE`, when it holds for the whole index. */
function rootTree(extensions: Buffer, hash: HashName): string | undefined {
  for (let at = 0; at + 8 <= extensions.length; ) {
    const name = extensions.toString("latin1", at, at + 4);
    const size = extensions.readUInt32BE(at + 4);
    if (name === "TREE") {
      const body = extensions.subarray(at + 8, at + 8 + size);
      const line = body.indexOf(10);
      const known = /^\0\d+ \d+$/.test(body.toString("latin1", 0, line));
      return known ? body.toString("hex", line + 1, line + 1 + hashBytes(hash)) : undefined;
    }
    at += 8 + size;
  }
  return undefined;
}

export interface NewEntry {
  path: string;
  mode: number;
  objectId: string;
  /** How it looked when it was read; undefined when it must be read again. */
  stat: FileStat | undefined;
}

/** One entry as bytes. */
export function packEntry({ path, mode, objectId, stat }: NewEntry): Buffer {
  const idBytes = objectId.length / 2;
  const nameAt = STAT_BYTES + idBytes + 2;
  const entry = Buffer.alloc(paddedSize(nameAt + path.length));
  if (stat) {
    const { changedSeconds, changedNanoseconds, modifiedSeconds, modifiedNanoseconds } = stat;
    const fields = [changedSeconds, changedNanoseconds, modifiedSeconds, modifiedNanoseconds, 0, stat.inode];
    for (const [at, value] of fields.entries()) entry.writeUInt32BE(value >>> 0, 4 * at);
    for (const [at, value] of [stat.uid, stat.gid, stat.size].entries()) entry.writeUInt32BE(value >>> 0, 28 + 4 * at);
  }
  entry.writeUInt32BE(mode, 24);
  entry.write(objectId, STAT_BYTES, "hex");
  entry.writeUInt16BE(Math.min(path.length, MAX_NAME), STAT_BYTES + idBytes);
  entry.write(path, nameAt, "latin1");
  return entry;
}

export interface IndexEdits {
  /** New and changed entries, in any order; a path at most once. */
  entries: readonly NewEntry[];
  /** Paths of the index that are no more. */
  gone: readonly string[];
  /** What the index stands for with these edits; git works it out when not given. */
  tree?: string;
}

/** Writes another index beside: `path` must not exist. @throws the file system's error, e.g. `EEXIST`. */
export async function writeIndex(path: string, before: GitIndex, { entries, gone, tree }: IndexEdits): Promise<void> {
  const hasher = new Bun.CryptoHasher(before.hash);
  const count = before.rows.size - gone.length + entries.filter((entry) => !before.rows.has(entry.path)).length;
  const file = await open(path, "wx");
  try {
    const pieces = merged(before, await sortedInTurns(entries, (a, b) => a.path < b.path), new Set(gone));
    for await (const piece of evenPieces(
      header(count),
      pieces,
      tree === undefined ? Buffer.alloc(0) : treeExtension(count, tree),
    )) {
      hasher.update(piece);
      await file.writeFile(piece);
    }
    await file.writeFile(hasher.digest());
  } finally {
    await file.close();
  }
}

/** The same bytes in pieces that are neither tiny nor huge. */
async function* evenPieces(first: Buffer, rest: AsyncIterable<Buffer>, last: Buffer): AsyncGenerator<Buffer> {
  let held = [first];
  let bytes = first.length;
  for await (const piece of rest) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      const part = piece.subarray(at, at + PIECE_BYTES);
      held.push(part);
      bytes += part.length;
      if (bytes < PIECE_BYTES) continue;
      yield Buffer.concat(held);
      held = [];
      bytes = 0;
    }
  }
  yield Buffer.concat([...held, last]);
}

/** Old and new entries in the order of their paths; what stands together in the old index comes as one piece. */
async function* merged(
  before: GitIndex,
  edits: readonly NewEntry[],
  gone: ReadonlySet<string>,
): AsyncGenerator<Buffer> {
  const turn = takeTurns();
  let next = 0;
  let from = 0;
  for (const [path, row] of before.rows) {
    const isGone = gone.has(path);
    const edit = edits[next];
    if (!isGone && (edit === undefined || path < edit.path)) continue;
    yield before.raw(from, row);
    for (; next < edits.length && edits[next]!.path < path; next++) yield packEntry(edits[next]!);
    const isReplaced = edits[next]?.path === path;
    if (isReplaced) yield packEntry(edits[next++]!);
    from = isReplaced || isGone ? row + 1 : row;
    await turn();
  }
  yield before.raw(from, before.rows.size);
  for (; next < edits.length; next++) {
    yield packEntry(edits[next]!);
    await turn();
  }
}

function header(count: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write("DIRC", "latin1");
  bytes.writeUInt32BE(2, 4);
  bytes.writeUInt32BE(count, 8);
  return bytes;
}

function treeExtension(count: number, tree: string): Buffer {
  const body = Buffer.concat([Buffer.from(`\0${count} 0\n`, "latin1"), Buffer.from(tree, "hex")]);
  const head = Buffer.alloc(8);
  head.write("TREE", "latin1");
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
