/** Copies a tree to another folder, both reached through descriptors. Links are copied as links and never followed. */
import { takeTurns } from "../core/turns.ts";
import { FileError, type Folder } from "./folder.ts";
import { joinPath, walkBeneath } from "./walk.ts";

interface CopyBounds {
  files: number;
  /** Most bytes of all files together; `bytesOfFile` bounds each file. */
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
  /**
   * `to` is a working copy that already holds files. Existing files stay, and `.git` is not copied. Such a copy can be
   * repeated after a failure.
   */
  beside?: boolean | undefined;
}

const PART_BYTES = 1024 * 1024;
/**
 * With `beside`, a file's name ends with this until the file is complete, so that a repeated copy never takes half a
 * file for a whole one.
 */
const PART_NAME = ".skep-copying";

/**
 * Copies a tree. `to` must be empty unless `beside` is set. If the agent of `from` changes files meanwhile, the copy
 * holds what it finds. @throws FileError when the target cannot be written.
 */
export async function copyTree(
  from: Folder,
  to: Folder,
  bounds: CopyBounds,
  { signal, onCopied, beside = false }: CopyOptions = {},
): Promise<Copied> {
  const copied: Copied = { files: 0, bytes: 0, leftOut: 0 };
  const turn = takeTurns();
  const leaveOut = () => {
    copied.leftOut += 1;
  };
  for await (const { folder, path, entries } of walkBeneath(from, {
    leaveOut: "nothing",
    onUnreadable: leaveOut,
    enter: (path) => !(beside && path === REPOSITORY),
    signal,
  }))
    for (const { name, kind } of entries) {
      await turn();
      signal?.throwIfAborted();
      const place = joinPath(path, name);
      if (beside && (place === REPOSITORY || isThere(to, place))) continue;
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

  /** @returns false when the file is too large, or was made unreadable, replaced or removed meanwhile. */
  async function copyFile(folder: Folder, name: string, to: Folder, place: string): Promise<boolean> {
    using source = tryRead(() => folder.openFile(name));
    if (!source || source.stat.size > Math.min(bounds.bytesOfFile, bounds.bytes - copied.bytes)) return false;
    const part = beside ? `${place}${PART_NAME}` : place;
    if (beside && to.find(part)) to.unlink(part);
    using target = to.newFile(part, source.stat.mode & 0o777);
    const bytes = Buffer.allocUnsafe(Math.min(PART_BYTES, source.stat.size));
    // Reads only as many bytes as the file had when it was opened, even if it grows.
    for (let at = 0; at < source.stat.size; ) {
      const count = source.read(bytes.subarray(0, Math.min(bytes.byteLength, source.stat.size - at)), at);
      if (count === 0) break;
      target.append(bytes.subarray(0, count));
      at += count;
      copied.bytes += count;
      await turn();
      signal?.throwIfAborted();
    }
    if (beside) to.rename(part, place);
    return true;
  }
}

const REPOSITORY = ".git";

/**
 * Whether the target has an entry at this path. Also true when a file or link is in the place of a parent folder: then
 * nothing is copied there.
 */
function isThere(to: Folder, place: string): boolean {
  try {
    return to.find(place) !== undefined;
  } catch (error) {
    if (error instanceof FileError) return true;
    throw error;
  }
}

function copyLink(folder: Folder, name: string, to: Folder, place: string): boolean {
  const target = tryRead(() => folder.readLink(name));
  if (target === undefined) return false;
  to.makeLink(place, target);
  return true;
}

/** Runs `read`. @returns undefined when the file system refuses. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
