/**
 * Works on the files of one workspace from the server's side, and never leaves it (see workspace-path.ts). Only regular
 * files are read and written, so a pipe or socket that an agent made can neither block nor mislead the server.
 */
import { randomBytes } from "node:crypto";
import { Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { sortedInTurns } from "../../core/turns.ts";
import type { FileEntry, WalkEntry, WalkOptions, WalkResult, Workspace } from "../../engine/sandbox.ts";
import { type Entry, FileError, type FileStat, type Folder, modifiedMs } from "../../working-copy/folder.ts";
import { joinPath, type WalkedPart, walkBeneath } from "../../working-copy/walk.ts";
import { asPathProblem, type Owner, type Place, resolvePlace } from "./workspace-path.ts";

const MAX_LISTED = 10_000;

/** @param root absolute path of the workspace. @param owner owner of written files; the server's user when absent. */
export function createWorkspaceFiles(root: string, owner?: Owner): Workspace {
  const runAt = async <T>(path: string, make: Owner | boolean, act: (place: Place) => T | Promise<T>): Promise<T> => {
    using place = resolvePlace(root, path, make);
    try {
      return await act(place);
    } catch (error) {
      throw asPathProblem(error, path);
    }
  };
  return {
    read: (path) => runAt(path, false, (place) => readRegular(place, path)),
    write: (path, data) => runAt(path, owner ?? true, (place) => replaceFile(place, data, owner)),
    list: (path) => runAt(path, false, listPlace),
    walk: (path, options) => runAt(path, false, (place) => walkPlace(place, options)),
    // The files are the server's own, so there is nothing to bring back.
    bringBack: async () => {},
  };
}

function readRegular({ folder, name }: Place, path: string): Uint8Array {
  if (name === "") throw new FileError("EISDIR", "read");
  using file = folder.openFile(name);
  const { size } = file.stat;
  const max = LIMITS.toolWholeOutputBytes;
  if (size > max)
    throw new Problem(413, "file_too_large", `${JSON.stringify(path)} has ${size} bytes; ${max} can be read at most.`);
  return file.readAll();
}

/**
 * Writes a temporary file and renames it, so that a reader sees the old or the new file, and a full disk does no harm.
 */
function replaceFile({ folder, name }: Place, data: Uint8Array, owner?: Owner): void {
  if (name === "") throw new FileError("EISDIR", "write");
  const before = folder.find(name);
  if (before && before.kind !== "file") throw new FileError(before.kind === "folder" ? "EISDIR" : "ENXIO", "write");
  const draft = `.skep-${randomBytes(9).toString("base64url")}`;
  try {
    folder.createFile(draft, data, { ...(before && { mode: before.mode & 0o777 }), ...(owner && { owner }) });
    // Replaces the name itself, whatever it is by now; a link is not followed.
    folder.rename(draft, name);
  } catch (error) {
    removeDraft(folder, draft);
    throw error;
  }
}

function removeDraft(folder: Folder, draft: string): void {
  try {
    folder.unlink(draft);
  } catch {
    // The temporary file was never made.
  }
}

function entryOf(name: string, stat: FileStat): FileEntry {
  return { name, kind: stat.kind, sizeBytes: stat.size, modifiedAt: modifiedMs(stat) };
}

function listPlace({ folder, name }: Place): FileEntry[] {
  const self = folder.stat(name);
  if (self.kind !== "folder") return [entryOf(name, self)];
  using listed = folder.folder(name);
  return listed.list(MAX_LISTED).flatMap((entry) => {
    // An entry that vanishes between the two calls is not listed.
    const stat = listed.find(entry.name);
    return stat ? entryOf(entry.name, stat) : [];
  });
}

/** Lists everything below a folder. For a file, the file is the only entry. */
async function walkPlace({ folder, name, relative }: Place, options: WalkOptions): Promise<WalkResult> {
  const { maxEntries, ignored = false, signal } = options;
  if (folder.stat(name).kind !== "folder") return { entries: [{ path: relative, kind: "file" }], truncated: false };
  using top = folder.folder(name);
  const entries: WalkEntry[] = [];
  let truncated = false;
  const onUnreadable = (_path: string, { code }: FileError) => {
    truncated ||= code === "ENAMETOOLONG";
  };
  const leaveOut = ignored ? "repositories" : "ignored";
  const walk = walkBeneath(top, { leaveOut, onUnreadable, signal });
  for await (const { path, entries: found } of inFolders(walk, maxEntries)) {
    for (const { name: own, kind } of found)
      if (kind !== "other") entries.push({ path: joinPath(relative, joinPath(path, own)), kind });
    if (entries.length > maxEntries) return { entries: entries.slice(0, maxEntries), truncated: true };
  }
  return { entries, truncated };
}

/**
 * Joins the parts of each folder and sorts its entries by name. Ends with the first folder of more than `max` entries.
 */
async function* inFolders(
  parts: AsyncIterable<WalkedPart>,
  max: number,
): AsyncGenerator<Pick<WalkedPart, "path" | "entries">> {
  let path = "";
  let entries: Entry[] = [];
  for await (const part of parts) {
    if (part.path !== path) {
      yield { path, entries: await sortedInTurns(entries, (a, b) => a.name < b.name) };
      entries = [];
    }
    path = part.path;
    for (const entry of part.entries) entries.push(entry);
    if (entries.length > max) break;
  }
  yield { path, entries: await sortedInTurns(entries, (a, b) => a.name < b.name) };
}
