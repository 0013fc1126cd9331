/** Encodes the parts of git's index file, version 2. Format: gitformat-index(5). Paths are `latin1`. */
import type { FileStat } from "./libc.ts";

export const HEADER_BYTES = 12;
/** Bytes of an entry's first part, the file's status. Object id, flags and path follow it. */
export const STAT_BYTES = 40;
const MAX_NAME = 0xfff;

export const GITLINK = 0o160000;
const LINK = 0o120000;
const FILE = 0o100644;
const PROGRAM = 0o100755;

/** Hash function of the repository. */
export type HashName = "sha1" | "sha256";
export const hashOf = (objectId: string): HashName => (objectId.length === 64 ? "sha256" : "sha1");
export const hashBytes = (hash: HashName) => (hash === "sha256" ? 32 : 20);

/** A file's mode as git stores it. */
export function modeOf({ kind, mode }: FileStat): number {
  if (kind === "link") return LINK;
  return mode & 0o100 ? PROGRAM : FILE;
}

/** Size of an entry with its padding: one to eight NULs, up to a multiple of eight. */
export const paddedSize = (bytes: number): number => (bytes + 8) & ~7;

export interface NewEntry {
  path: string;
  mode: number;
  objectId: string;
  /** Status of the file when it was read; undefined when the file must be read again. */
  stat: FileStat | undefined;
}

/** Encodes one entry. */
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

/** Encodes the header of an index file. */
export function encodeHeader(count: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write("DIRC", "latin1");
  bytes.writeUInt32BE(2, 4);
  bytes.writeUInt32BE(count, 8);
  return bytes;
}

/** Encodes the extension `TREE` of an index that stands for one whole tree. */
export function treeExtension(count: number, tree: string): Buffer {
  const body = Buffer.concat([Buffer.from(`\0${count} 0\n`, "latin1"), Buffer.from(tree, "hex")]);
  const head = Buffer.alloc(8);
  head.write("TREE", "latin1");
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
