/** The parts of git's index file, version 2, as bytes. Format: gitformat-index(5). Paths are `latin1`. */
import type { FileStat } from "./libc.ts";

export const HEADER_BYTES = 12;
/** What an entry begins with: how the file looked. The hash of its content, flags and the path follow. */
export const STAT_BYTES = 40;
const MAX_NAME = 0xfff;

export const GITLINK = 0o160000;
const LINK = 0o120000;
const FILE = 0o100644;
const PROGRAM = 0o100755;

/** `sha1` or `sha256`, by the repository's format. */
export type HashName = "sha1" | "sha256";
export const hashOf = (objectId: string): HashName => (objectId.length === 64 ? "sha256" : "sha1");
export const hashBytes = (hash: HashName) => (hash === "sha256" ? 32 : 20);

/** A file's mode as git keeps it. */
export function modeOf({ kind, mode }: FileStat): number {
  if (kind === "link") return LINK;
  return mode & 0o100 ? PROGRAM : FILE;
}

/** An entry's bytes, and one to eight NULs to a multiple of eight. */
export const paddedSize = (bytes: number): number => (bytes + 8) & ~7;

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

/** What an index file begins with. */
export function header(count: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write("DIRC", "latin1");
  bytes.writeUInt32BE(2, 4);
  bytes.writeUInt32BE(count, 8);
  return bytes;
}

/** The extension `TREE` of an index that stands for one tree as a whole. */
export function treeExtension(count: number, tree: string): Buffer {
  const body = Buffer.concat([Buffer.from(`\0${count} 0\n`, "latin1"), Buffer.from(tree, "hex")]);
  const head = Buffer.alloc(8);
  head.write("TREE", "latin1");
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
