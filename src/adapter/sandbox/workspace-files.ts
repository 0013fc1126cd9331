/**
 * The files of one workspace, worked on from the server's side and held inside it (see workspace-path.ts). Reads and
 * writes touch regular files only: a pipe or socket an agent planted can neither block nor mislead the server.
 */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { badRequest, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { FileEntry, WalkOptions, WalkResult } from "../../engine/sandbox.ts";
import { asPathProblem, errorCode, type Owner, openFolder, type Place, resolvePlace } from "./workspace-path.ts";
import { walkFolder } from "./workspace-walk.ts";

export interface WorkspaceFiles {
  /** The whole file. Throws 404 `file_not_found`, 403 `outside_workspace`, 413 `file_too_large`, 400. */
  readFile(path: string): Promise<Uint8Array>;
  /** Replaces the file in one step, making folders on the way; keeps an existing file's mode. */
  writeFile(path: string, data: Uint8Array): Promise<void>;
  /** Entries of one folder by name; a file is its own only entry. */
  list(path: string): Promise<FileEntry[]>;
  walk(path: string, options: WalkOptions): Promise<WalkResult>;
}

const MAX_LISTED = 10_000;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** `root`: absolute path of the workspace. `owner`: to whom what is written is given; the server's user when absent. */
export function createWorkspaceFiles(root: string, owner?: Owner): WorkspaceFiles {
  const at = <T>(path: string, make: Owner | boolean, act: (place: Place) => Promise<T>) =>
    withPlace(root, path, make, act);
  return {
    readFile: (path) => at(path, false, (place) => readRegular(place, path)),
    writeFile: (path, data) => at(path, owner ?? true, (place) => replaceFile(place, path, data, owner)),
    list: (path) => at(path, false, listPlace),
    walk: (path, options) => at(path, false, (place) => walkFolder(place, options)),
  };
}

async function withPlace<T>(
  root: string,
  path: string,
  make: Owner | boolean,
  act: (place: Place) => Promise<T>,
): Promise<T> {
  const place = await resolvePlace(root, path, make);
  try {
    return await act(place);
  } catch (error) {
    throw asPathProblem(error, path);
  } finally {
    await place.close();
  }
}

const notRegular = (path: string) => badRequest(`${JSON.stringify(path)} is no regular file.`, "not_a_file");

async function readRegular(place: Place, path: string): Promise<Uint8Array> {
  const file = await open(place.path, READ_FLAGS);
  try {
    const { size } = regular(await file.stat(), path);
    const max = LIMITS.toolWholeOutputBytes;
    if (size > max)
      throw new Problem(
        413,
        "file_too_large",
        `${JSON.stringify(path)} has ${size} bytes; ${max} can be read at most.`,
      );
    return await readUpTo(file, size);
  } finally {
    await file.close();
  }
}

function regular(stats: Stats, path: string): Stats {
  if (stats.isDirectory()) throw badRequest(`${JSON.stringify(path)} is a folder.`, "is_a_folder");
  if (!stats.isFile()) throw notRegular(path);
  return stats;
}

/** `size` bytes or fewer: a file that grows meanwhile is read as long as it was. */
async function readUpTo(file: FileHandle, size: number): Promise<Uint8Array> {
  const data = new Uint8Array(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(data, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return data.subarray(0, filled);
}

async function replaceFile(place: Place, path: string, data: Uint8Array, owner: Owner | undefined): Promise<void> {
  if (place.name === ".") throw badRequest("The workspace itself is a folder.", "is_a_folder");
  const before = await statIfThere(place.path);
  if (before) regular(before, path);
  const draft = `${place.folderPath}/.skep-${randomBytes(9).toString("base64url")}`;
  const file = await open(draft, WRITE_FLAGS, 0o644);
  try {
    try {
      if (before) await file.chmod(before.mode & 0o777);
      if (owner) await file.chown(owner.uid, owner.gid);
      await file.writeFile(data);
    } finally {
      await file.close();
    }
    // Replaces the name itself, whatever it has become meanwhile; a link is not followed.
    await rename(draft, place.path);
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function entryOf(name: string, stats: Stats): FileEntry {
  const kind = stats.isDirectory() ? "folder" : stats.isFile() ? "file" : stats.isSymbolicLink() ? "link" : "other";
  return { name, kind, sizeBytes: stats.size, modifiedAt: stats.mtimeMs };
}

async function listPlace(place: Place): Promise<FileEntry[]> {
  const self = place.name === "." ? undefined : await lstat(place.path);
  if (self && !self.isDirectory()) return [entryOf(place.name, self)];
  const folder = await openFolder(place.path);
  try {
    const names = (await readdir(folder.path)).sort().slice(0, MAX_LISTED);
    const entries: FileEntry[] = [];
    for (const name of names) {
      // What vanishes between the two calls is not listed.
      const stats = await statIfThere(`${folder.path}/${name}`);
      if (stats) entries.push(entryOf(name, stats));
    }
    return entries;
  } finally {
    await folder.handle.close();
  }
}
