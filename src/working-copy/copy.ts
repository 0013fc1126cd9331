/** Copies a tree to another place, both reached by descriptors: links are copied as links, never followed. */
import { takeTurns } from "../core/turns.ts";
import { FileError, type Folder } from "./folder.ts";
import { joined, walkBeneath } from "./walk.ts";

export interface CopyBounds {
  files: number;
  /** Of all files, and of one. */
  bytes: number;
  bytesOfFile: number;
}

export interface Copied {
  files: number;
  bytes: number;
  /** Files that were over a bound, could not be read, or are neither file, folder nor link. */
  leftOut: number;
}

export interface CopyOptions {
  signal?: AbortSignal | undefined;
  /** Called after each file. */
  onCopied?(copied: Copied): void;
}

const PART_BYTES = 1024 * 1024;

/** `to` is empty. What its agent changes meanwhile is copied as it is found. @throws FileError where nothing can be written. */
export async function copyTree(
  from: Folder,
  to: Folder,
  bounds: CopyBounds,
  { signal, onCopied }: CopyOptions = {},
): Promise<Copied> {
  const copied: Copied = { files: 0, bytes: 0, leftOut: 0 };
  const turn = takeTurns();
  const leaveOut = () => {
    copied.leftOut += 1;
  };
  for await (const { folder, path, entries } of walkBeneath(from, {
    leaveOut: "nothing",
    onUnreadable: leaveOut,
    signal,
  }))
    for (const { name, kind } of entries) {
      await turn();
      signal?.throwIfAborted();
      const place = joined(path, name);
      if (kind === "folder") {
        to.makeFolder(place);
        continue;
      }
      const isCopied =
        copied.files < bounds.files &&
        kind !== "other" &&
        (kind === "link" ? copyLink(folder, name, to, place) : await copyFile(folder, name, to, place));
      if (isCopied) copied.files += 1;
      else leaveOut();
      onCopied?.(copied);
    }
  return copied;

  /** @returns false for what is too large, or was closed, replaced or removed meanwhile. */
  async function copyFile(folder: Folder, name: string, to: Folder, place: string): Promise<boolean> {
    using source = readable(() => folder.openFile(name));
    if (!source || source.stat.size > Math.min(bounds.bytesOfFile, bounds.bytes - copied.bytes)) return false;
    using target = to.newFile(place, source.stat.mode & 0o777);
    const part = Buffer.allocUnsafe(Math.min(PART_BYTES, source.stat.size));
    // One that grows meanwhile is read as long as it was.
    for (let at = 0; at < source.stat.size; ) {
      const count = source.read(part.subarray(0, Math.min(part.byteLength, source.stat.size - at)), at);
      if (count === 0) break;
      target.append(part.subarray(0, count));
      at += count;
      copied.bytes += count;
      await turn();
      signal?.throwIfAborted();
    }
    return true;
  }
}

function copyLink(folder: Folder, name: string, to: Folder, place: string): boolean {
  const target = readable(() => folder.readLink(name));
  if (target === undefined) return false;
  to.makeLink(place, target);
  return true;
}

/** Undefined for what cannot be read. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
