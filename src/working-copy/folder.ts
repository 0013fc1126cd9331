/**
 * An open folder, and what is below it. Everything is reached from its descriptor, and no link is followed on the
 * way: whatever is renamed, linked or swapped meanwhile by somebody who works on the same files, nothing outside of it
 * is read, written or removed. Reading takes regular files only and never waits: a pipe or a device that somebody left
 * there is refused at once.
 */

import { closeSync, constants, fchmodSync, fchownSync, openSync, readSync, rmdirSync, writeSync } from "node:fs";
import { codeOf } from "../core/errors.ts";
import { takeTurns } from "../core/turns.ts";
import {
  type DirectoryEntry,
  FileError,
  type FileKind,
  type FileStat,
  type Libc,
  libc,
  type NameEncoding,
} from "./libc.ts";

export type { FileKind, FileStat, NameEncoding };
export { FileError };

export interface Entry {
  name: string;
  kind: FileKind;
}

export interface Owner {
  uid: number;
  gid: number;
}

/** A `latin1` name as text; what is not UTF-8 shows as U+FFFD. */
export function asText(name: string): string {
  return /[^\x00-\x7f]/.test(name) ? Buffer.from(name, "latin1").toString() : name;
}

/** Milliseconds since 1970, with fraction. */
export const modifiedMs = ({ modifiedSeconds, modifiedNanoseconds }: FileStat): number =>
  modifiedSeconds * 1_000 + modifiedNanoseconds / 1e6;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** Some editors begin a text with it. */
const BOM = Buffer.from("\uFEFF");
/** Folders in folders that `removeTree` enters. */
const MAX_DEPTH = 4_096;

/** Opens a folder by its path, which must be one that only the server's user can change. @throws FileError */
export function openFolder(path: string, names: NameEncoding = "utf8", system: Libc = libc()): Folder {
  return new Folder(system, openSync(path, FOLDER), names);
}

/** Removes a folder and everything in it, links themselves; a missing folder is fine. The path as for `openFolder`. */
export async function removeFolder(path: string): Promise<void> {
  try {
    using folder = openFolder(path, "latin1");
    await folder.empty();
    rmdirSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Removes an entry with everything below it; a missing one is fine. */
export async function removeEntry(top: Folder, path: string): Promise<void> {
  try {
    if (top.find(path)?.kind !== "folder") return top.unlink(path);
    using folder = top.folder(path);
    await folder.empty();
    top.removeFolder(path);
  } catch (error) {
    if (!(error instanceof FileError) || !["ENOENT", "ENOTDIR"].includes(error.code)) throw error;
  }
}

/**
 * Paths are relative, of one or more components; none may be empty, `.` or `..`. All methods throw `FileError`: `ELOOP`
 * or `ENOTDIR` where a link is in the way.
 */
export class Folder {
  #open = true;

  constructor(
    private readonly system: Libc,
    readonly descriptor: number,
    private readonly names: NameEncoding,
  ) {}

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** A folder below; to be closed by the caller. "" is this one, opened again. */
  folder(path: string): Folder {
    const flags = FOLDER | constants.O_NONBLOCK;
    const inside = path === "" ? "." : below(path);
    return new Folder(this.system, this.system.open(this.descriptor, inside, this.names, flags), this.names);
  }

  /** The entries, some hundred at a time, in no order. An entry that vanishes meanwhile may be missing. */
  *batches(): Generator<Entry[]> {
    using reading = this.folder("");
    for (;;) {
      const found = this.system.entries(reading.descriptor, this.names);
      if (found.length === 0) return;
      yield found.flatMap((entry) => this.#known(entry) ?? []);
    }
  }

  /** The entries by name. @param max entries read at most. */
  list(max = Number.POSITIVE_INFINITY): Entry[] {
    const all: Entry[] = [];
    for (const batch of this.batches()) {
      all.push(...batch);
      if (all.length >= max) break;
    }
    return all.slice(0, max).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #known({ name, kind }: DirectoryEntry): Entry | undefined {
    const found = kind ?? this.find(name)?.kind;
    return found && { name, kind: found };
  }

  /** Of the thing itself, also when it is a link; "" is this folder. @throws FileError `ENOENT` where there is nothing. */
  stat(path: string): FileStat {
    const found = this.find(path);
    if (!found) throw new FileError("ENOENT", "stat");
    return found;
  }

  /** The same, undefined where there is nothing. */
  find(path: string): FileStat | undefined {
    if (path === "") return this.system.statOpen(this.descriptor);
    return this.#at(path, (folder, name) => this.system.find(folder, name, this.names));
  }

  /** The same of what `batches` or `list` has just named; only for such names, which are not looked at again. */
  findListed(name: string): FileStat | undefined {
    return this.system.find(this.descriptor, name, this.names);
  }

  /** A regular file, to be read. @throws FileError `EISDIR`, and `ENXIO` for what is neither file nor folder. */
  openFile(path: string): OpenFile {
    const descriptor = this.system.open(this.descriptor, below(path), this.names, READ);
    try {
      const stat = this.system.statOpen(descriptor);
      if (stat.kind === "folder") throw new FileError("EISDIR", "read");
      if (stat.kind !== "file") throw new FileError("ENXIO", "read");
      return new OpenFile(descriptor, stat);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** A whole regular file. @throws FileError as `openFile`, and `EFBIG` when it has more than `maxBytes`. */
  readFile(path: string, maxBytes: number): Buffer {
    using file = this.openFile(path);
    if (file.stat.size > maxBytes) throw new FileError("EFBIG", "read");
    return file.readAll();
  }

  /** The text of a whole regular file, in the encoding of the names, without a byte order mark. @throws FileError as `readFile`. */
  text(path: string, maxBytes: number): string {
    const data = this.readFile(path, maxBytes);
    const start = data.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
    return data.toString(this.names, start);
  }

  /** The text of a link. @throws FileError `EINVAL` for anything else. */
  readLink(path: string): string {
    return this.#at(path, (folder, name) => this.system.readLink(folder, name, this.names));
  }

  /** @param mode permission bits, cut by the process's mask. @throws FileError `EEXIST`. */
  makeFolder(path: string, mode = 0o755): void {
    this.#at(path, (folder, name) => this.system.makeFolder(folder, name, this.names, mode));
  }

  /** Makes a link with this text, which may lead anywhere. @throws FileError `EEXIST`. */
  makeLink(path: string, target: string): void {
    this.#at(path, (folder, name) => this.system.makeLink(folder, name, this.names, target));
  }

  /**
   * Takes permissions away from a regular file or a folder: those not in `mask`. "" is this folder.
   * @returns its mode afterwards: some file systems keep their own. @throws FileError where it may not be opened.
   */
  restrict(path: string, mask: number): number {
    const isFolder = path === "" || this.stat(path).kind === "folder";
    using opened = isFolder ? this.folder(path) : this.openFile(path);
    const { mode } = this.system.statOpen(opened.descriptor);
    fchmodSync(opened.descriptor, mode & 0o7777 & mask);
    return this.system.statOpen(opened.descriptor).mode;
  }

  /** Writes a new file. @throws FileError `EEXIST` also for a link that leads nowhere. */
  createFile(path: string, data: Uint8Array, { mode = 0o644, owner }: { mode?: number; owner?: Owner } = {}): void {
    using file = this.newFile(path, mode);
    if (owner) fchownSync(file.descriptor, owner.uid, owner.gid);
    file.append(data);
  }

  /** A new file, to be written part by part; closed by the caller. @throws FileError as `createFile`. */
  newFile(path: string, mode: number): NewFile {
    const descriptor = this.system.open(this.descriptor, below(path), this.names, CREATE, mode);
    const file = new NewFile(descriptor);
    try {
      fchmodSync(descriptor, mode);
      return file;
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Gives an entry another path; what was there is replaced, even a link. */
  rename(path: string, newPath: string): void {
    this.#at(path, (from, name) =>
      this.#at(newPath, (to, newName) => this.system.rename(from, name, to, newName, this.names)),
    );
  }

  /** Removes a file or a link itself. */
  unlink(path: string): void {
    this.#at(path, (folder, name) => this.system.unlink(folder, name, this.names, "file"));
  }

  /** Removes an empty folder. @throws FileError `ENOTEMPTY` and `EEXIST` for one that is not, `ENOTDIR`. */
  removeFolder(path: string): void {
    this.#at(path, (folder, name) => this.system.unlink(folder, name, this.names, "folder"));
  }

  /** Gives the entry itself to the owner, not what a link leads to; "" is this folder. */
  chown(path: string, owner: Owner): void {
    if (path === "") return fchownSync(this.descriptor, owner.uid, owner.gid);
    this.#at(path, (folder, name) => this.system.chown(folder, name, this.names, owner.uid, owner.gid));
  }

  /** Removes everything in this folder. Done in short steps, so that others get their turn. */
  async empty(): Promise<void> {
    await emptyFolder(this, this.system, this.names);
  }

  #at<T>(path: string, act: (folder: number, name: string) => T): T {
    const slash = below(path).lastIndexOf("/");
    if (slash < 0) return act(this.descriptor, path);
    using parent = this.folder(path.slice(0, slash));
    return act(parent.descriptor, path.slice(slash + 1));
  }
}

/** A regular file that was opened for reading. */
export class OpenFile {
  constructor(
    readonly descriptor: number,
    /** As it was when opened. */
    readonly stat: FileStat,
  ) {}

  /** Fills the buffer from `position` on. @returns bytes read; fewer only at the end of the file. */
  read(into: Uint8Array, position: number): number {
    let filled = 0;
    while (filled < into.byteLength) {
      const count = readSync(this.descriptor, into, filled, into.byteLength - filled, position + filled);
      if (count === 0) break;
      filled += count;
    }
    return filled;
  }

  /** As many bytes as it had when opened, or fewer: one that grows meanwhile is read as long as it was. */
  readAll(): Buffer {
    const data = Buffer.allocUnsafe(this.stat.size);
    return data.subarray(0, this.read(data, 0));
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

/** A file that was made here, to be written. */
export class NewFile {
  constructor(readonly descriptor: number) {}

  append(data: Uint8Array): void {
    for (let written = 0; written < data.byteLength; )
      written += writeSync(this.descriptor, data, written, data.byteLength - written);
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

const NOT_BENEATH = /(?:^|\/)\.{0,2}(?:\/|$)/;

function below(path: string): string {
  if (NOT_BENEATH.test(path)) throw new FileError("EXDEV", "a path that is not below the folder");
  return path;
}

const LISTED_AT_ONCE = 256;

/** @param turn of the whole removal: however the entries are spread over folders, others get their turn in time. */
async function emptyFolder(
  folder: Folder,
  system: Libc,
  names: NameEncoding,
  turn = takeTurns(),
  depth = 0,
): Promise<void> {
  if (depth > MAX_DEPTH) throw new FileError("ENAMETOOLONG", "folders too deep to be removed");
  for (let found = folder.list(LISTED_AT_ONCE); found.length > 0; found = folder.list(LISTED_AT_ONCE))
    for (const { name, kind } of found) {
      if (kind === "folder") {
        using below = folder.folder(name);
        await emptyFolder(below, system, names, turn, depth + 1);
      }
      system.unlink(folder.descriptor, name, names, kind === "folder" ? "folder" : "file");
      await turn();
    }
}
