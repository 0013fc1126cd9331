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

/** `to` is empty. What its agent changes meanwhile is copied as it is found. @throws FileError where nothing can be written. */
export async function copyTree(from: Folder, to: Folder, bounds: CopyBounds): Promise<Copied> {
  const copied: Copied = { files: 0, bytes: 0, leftOut: 0 };
  const turn = takeTurns();
  const leaveOut = () => {
    copied.leftOut += 1;
  };
  for await (const { folder, path, entries } of walkBeneath(from, { leaveOut: "nothing", onUnreadable: leaveOut }))
    for (const { name, kind } of entries) {
      await turn();
      const place = joined(path, name);
      if (kind === "folder") to.makeFolder(place);
      else if (copied.files >= bounds.files) leaveOut();
      else {
        const data = kind === "other" ? undefined : readEntry(folder, name, kind, bounds, copied);
        if (data === undefined) {
          leaveOut();
          continue;
        }
        if (typeof data === "string") to.makeLink(place, data);
        else to.createFile(place, data.bytes, { mode: data.mode });
        copied.files += 1;
        copied.bytes += typeof data === "string" ? 0 : data.bytes.byteLength;
      }
    }
  return copied;
}

/** The text of a link, or a file's bytes; undefined for what is too large, or was closed, replaced or removed meanwhile. */
function readEntry(folder: Folder, name: string, kind: "file" | "link", bounds: CopyBounds, { bytes }: Copied) {
  try {
    if (kind === "link") return folder.readLink(name);
    using file = folder.openFile(name);
    if (file.stat.size > Math.min(bounds.bytesOfFile, bounds.bytes - bytes)) return undefined;
    return { bytes: file.readAll(), mode: file.stat.mode & 0o777 };
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
