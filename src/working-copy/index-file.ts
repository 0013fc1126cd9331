/**
 * Git's index of a working copy: paths, object ids, and the status that each file had when it was read. A comparison
 * reads only files whose status differs.
 */
import { sortedInTurns, takeTurns } from "../core/turns.ts";
import {
  encodeHeader,
  type HashName,
  HEADER_BYTES,
  hashBytes,
  modeOf,
  type NewEntry,
  packEntry,
  paddedSize,
  STAT_BYTES,
} from "./index-format.ts";
import type { FileStat } from "./libc.ts";

const EXTENDED = 0x4000;
const STAGE = 0x3000;
const ROWS_AT_ONCE = 512;

export class GitIndex {
  private constructor(
    private readonly bytes: Buffer,
    readonly hash: HashName,
    /** Byte offset of each entry; the last element is the end of the last entry. */
    private readonly offsets: Uint32Array,
    /** Row numbers by folder path, then by name. */
    private readonly folders: ReadonlyMap<string, ReadonlyMap<string, number>>,
    /** Object id of the tree that the index stands for; undefined when git has not recorded it. */
    readonly tree: string | undefined,
    /** When the index was written, in seconds. The status of files modified at that time or later is not trusted. */
    private readonly writtenSeconds: number,
  ) {}

  /** @returns undefined when the index is damaged, has another version, or is in the middle of a merge. */
  static async parse(bytes: Buffer, hash: HashName, writtenSeconds: number): Promise<GitIndex | undefined> {
    if (bytes.length < HEADER_BYTES + hashBytes(hash)) return undefined;
    if (bytes.toString("latin1", 0, 4) !== "DIRC" || bytes.readUInt32BE(4) !== 2) return undefined;
    const count = bytes.readUInt32BE(8);
    const end = bytes.length - hashBytes(hash);
    if (count > end / STAT_BYTES) return undefined;
    const offsets = new Uint32Array(count + 1);
    const folders = createFolders(bytes);
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
      folders.add(start, stop, row);
      at += paddedSize(stop - at);
    }
    if (at > end || !folders.areWhole()) return undefined;
    offsets[count] = at;
    const tree = rootTree(bytes.subarray(at, end), hash);
    return new GitIndex(bytes, hash, offsets, folders.byPath, tree, writtenSeconds);
  }

  /** Makes an index of entries in any order. Each path may occur once at most. */
  static async of(entries: readonly NewEntry[], hash: HashName): Promise<GitIndex> {
    const sorted = await sortedInTurns(entries, (a, b) => a.path < b.path);
    const bytes = Buffer.concat([encodeHeader(sorted.length), ...sorted.map(packEntry), Buffer.alloc(hashBytes(hash))]);
    const made = await GitIndex.parse(bytes, hash, 0);
    if (!made) throw new Error("an index of entries that cannot be in one");
    return made;
  }

  get size(): number {
    return this.offsets.length - 1;
  }

  row(path: string): number | undefined {
    const slash = path.lastIndexOf("/");
    return this.inFolder(slash < 0 ? "" : path.slice(0, slash))?.get(path.slice(slash + 1));
  }

  /** Row numbers of the entries directly in a folder, by name. "" is the top. */
  inFolder(path: string): ReadonlyMap<string, number> | undefined {
    return this.folders.get(path);
  }

  /** Paths of the folders that directly contain an entry. */
  folderPaths(): Iterable<string> {
    return this.folders.keys();
  }

  /** Path of a row; rows are sorted by path. */
  path(row: number): string {
    const start = this.offsets[row]! + STAT_BYTES + hashBytes(this.hash) + 2;
    return this.bytes.toString("latin1", start, this.bytes.indexOf(0, start));
  }

  /**
   * Finds the first row from `from` on whose path is not before `path`. Searches with doubling steps, then by
   * bisection.
   */
  firstFrom(from: number, path: string): number {
    let step = 1;
    let low = from;
    while (low + step < this.size && this.path(low + step) < path) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, this.size);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.path(middle) < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  mode(row: number): number {
    return this.bytes.readUInt32BE(this.offsets[row]! + 24);
  }

  /** Object id of the content, hexadecimal. */
  objectId(row: number): string {
    const start = this.offsets[row]! + STAT_BYTES;
    return this.bytes.toString("hex", start, start + hashBytes(this.hash));
  }

  /** Bytes of the entries from row `from` to before row `to`. */
  raw(from: number, to: number): Buffer {
    return this.bytes.subarray(this.offsets[from], this.offsets[to]);
  }

  /** Whether the file's status is the one it had when its content was read. */
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

/** Groups rows by folder. Adjacent rows mostly share a folder, whose path is then not decoded again. */
function createFolders(bytes: Buffer) {
  const byPath = new Map<string, Map<string, number>>();
  let folder: Map<string, number> | undefined;
  let folderStart = 0;
  let folderLength = 0;
  let isWhole = true;
  const isSameFolder = (start: number, slash: number): boolean => {
    if (folder === undefined || slash - start !== folderLength) return false;
    for (let at = 0; at < folderLength; at++) if (bytes[start + at] !== bytes[folderStart + at]) return false;
    return true;
  };
  return {
    byPath,
    /** False when a path occurred twice. */
    areWhole: () => isWhole,
    /** Adds a row whose path is the bytes from `start` to before `stop`. */
    add(start: number, stop: number, row: number): void {
      let slash = stop - 1;
      while (slash > start && bytes[slash] !== SLASH) slash--;
      if (!isSameFolder(start, slash)) {
        const path = bytes.toString("latin1", start, slash);
        folder = byPath.get(path) ?? new Map();
        byPath.set(path, folder);
        folderStart = start;
        folderLength = slash - start;
      }
      const name = bytes.toString("latin1", slash > start ? slash + 1 : start, stop);
      if (folder!.has(name)) isWhole = false;
      folder!.set(name, row);
    },
  };
}

const SLASH = 0x2f;

/** Object id of the root in the extension `TREE`; undefined when it does not cover the whole index. */
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
