/** Rewrites git's index with some entries changed. */
import { open } from "node:fs/promises";
import { sortedInTurns, takeTurns } from "../core/turns.ts";
import type { GitIndex } from "./index-file.ts";
import { encodeHeader, type NewEntry, packEntry, treeExtension } from "./index-format.ts";

/** Bytes of one write. */
const PIECE_BYTES = 1024 * 1024;

export interface IndexEdits {
  /** New and changed entries in any order; each path occurs once at most. */
  entries: readonly NewEntry[];
  /** Paths of the index that no longer exist. */
  gone: readonly string[];
  /** Object id of the tree that the edited index stands for. When it is not given, git computes it. */
  tree?: string;
}

interface Edit {
  path: string;
  /** Undefined for a path that no longer exists. */
  entry: NewEntry | undefined;
}

/**
 * Writes a new index file next to the old one; `path` must not exist. @throws the file system's error, e.g. `EEXIST`.
 */
export async function writeIndex(path: string, before: GitIndex, { entries, gone, tree }: IndexEdits): Promise<void> {
  const hasher = new Bun.CryptoHasher(before.hash);
  const added = entries.filter(({ path }) => before.row(path) === undefined).length;
  const count = before.size + added - gone.length;
  const file = await open(path, "wx");
  try {
    const changed = entries.map((entry): Edit => ({ path: entry.path, entry }));
    const removed = gone.map((path): Edit => ({ path, entry: undefined }));
    const pieces = mergeEntries(before, await sortedInTurns([...changed, ...removed], (a, b) => a.path < b.path));
    for await (const piece of evenPieces(
      encodeHeader(count),
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

/** Regroups the bytes into pieces of about PIECE_BYTES, so that writes are neither tiny nor huge. */
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

/** Merges old and new entries in the order of their paths. Adjacent entries of the old index come as one piece. */
async function* mergeEntries(before: GitIndex, edits: readonly Edit[]): AsyncGenerator<Buffer> {
  const turn = takeTurns();
  let from = 0;
  for (const { path, entry } of edits) {
    const row = before.firstFrom(from, path);
    if (row > from) yield before.raw(from, row);
    if (entry) yield packEntry(entry);
    from = row < before.size && before.path(row) === path ? row + 1 : row;
    await turn();
  }
  yield before.raw(from, before.size);
}
