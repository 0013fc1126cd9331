/**
 * An open folder and everything below it. Paths start at the folder's descriptor and links are never followed. So
 * nothing outside the folder is read, written or removed, even if somebody renames, links or swaps files meanwhile.
 * Only regular files are read, and reading never waits: a pipe or device is refused at once.
 */

import { closeSync, constants, fchmodSync, fchownSync, openSync, readSync, rmdirSync, writeSync } from "node:fs";
import { codeOf } from "../core/errors.ts";
import { takeTurns } from "../core/turns.ts";
import {
  type DirectoryEntry,
  FileError,
  type FileKind,
  type FileStat,
  getLibc,
  type Libc,
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

/** Decodes a `latin1` name as UTF-8; invalid bytes become U+FFFD. */
export function asText(name: string): string {
  return /[^\x00-\x7f]/.test(name) ? Buffer.from(name, "latin1").toString() : name;
}

/** Time of the last change of the content, in milliseconds since 1970, with fraction. */
export const modifiedMs = ({ modifiedSeconds, modifiedNanoseconds }: FileStat): number =>
  modifiedSeconds * 1_000 + modifiedNanoseconds / 1e6;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** Byte order mark: some editors begin a text file with it. */
const BOM = Buffer.from("\uFEFF");
/** Deepest nesting of folders that `emptyFolder` enters. */
const MAX_DEPTH = 4_096;

/** Opens a folder by its path, which must be one that only the server's user can change. @throws FileError */
export function openFolder(path: string, names: NameEncoding = "utf8", system: Libc = getLibc()): Folder {
  return new Folder(system, openSync(path, FOLDER), names);
}

/**
 * Removes a folder and everything in it; links are removed, not followed. A missing folder is no error. For the path,
 * see `openFolder`.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    using folder = openFolder(path, "latin1");
    await folder.empty();
    rmdirSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Removes an entry with everything below it; a missing entry is no error. */
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
 * A folder's methods take relative paths of one or more components; no component may be empty, `.` or `..`. All methods
 * throw `FileError`: `ELOOP` or `ENOTDIR` when a component of the path is a link.
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

  /** Opens a folder below; the caller closes it. "" opens this folder again. */
  folder(path: string): Folder {
    const flags = FOLDER | constants.O_NONBLOCK;
    const inside = path === "" ? "." : requireBelow(path);
    return new Folder(this.system, this.system.open(this.descriptor, inside, this.names, flags), this.names);
  }

  /** Lists the entries in no order, some hundred at a time. An entry that vanishes meanwhile may be missing. */
  *batches(): Generator<Entry[]> {
    using reading = this.folder("");
    for (;;) {
      const found = this.system.entries(reading.descriptor, this.names);
      if (found.length === 0) return;
      yield found.flatMap((entry) => this.#known(entry) ?? []);
    }
  }

  /** Lists the entries, sorted by name. @param max most entries to read. */
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

  /**
   * Status of the entry itself, even when it is a link. "" is this folder. @throws FileError `ENOENT` when there is no
   * such entry.
   */
  stat(path: string): FileStat {
    const found = this.find(path);
    if (!found) throw new FileError("ENOENT", "stat");
    return found;
  }

  /** As `stat`, but undefined when there is no such entry. */
  find(path: string): FileStat | undefined {
    if (path === "") return this.system.statOpen(this.descriptor);
    return this.#at(path, (folder, name) => this.system.find(folder, name, this.names));
  }

  /** As `find`, for a name that `batches` or `list` has just returned: such a name is not checked again. */
  findListed(name: string): FileStat | undefined {
    return this.system.find(this.descriptor, name, this.names);
  }

  /**
   * Opens a regular file for reading. @throws FileError `EISDIR` for a folder, `ENXIO` for what is neither file nor
   * folder.
   */
  openFile(path: string): OpenFile {
    const descriptor = this.system.open(this.descriptor, requireBelow(path), this.names, READ);
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

  /** Reads a whole regular file. @throws FileError as `openFile`, and `EFBIG` when it has more than `maxBytes`. */
  readFile(path: string, maxBytes: number): Buffer {
    using file = this.openFile(path);
    if (file.stat.size > maxBytes) throw new FileError("EFBIG", "read");
    return file.readAll();
  }

  /**
   * Reads a whole regular file as text, in the encoding of the names and without a byte order mark. @throws FileError
   * as `readFile`.
   */
  text(path: string, maxBytes: number): string {
    const data = this.readFile(path, maxBytes);
    const start = data.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
    return data.toString(this.names, start);
  }

  /** Reads the target of a link. @throws FileError `EINVAL` for anything else. */
  readLink(path: string): string {
    return this.#at(path, (folder, name) => this.system.readLink(folder, name, this.names));
  }

  /** @param mode permission bits; the process's umask applies. @throws FileError `EEXIST`. */
  makeFolder(path: string, mode = 0o755): void {
    this.#at(path, (folder, name) => this.system.makeFolder(folder, name, this.names, mode));
  }

  /** Makes a link. Its target may be any text. @throws FileError `EEXIST`. */
  makeLink(path: string, target: string): void {
    this.#at(path, (folder, name) => this.system.makeLink(folder, name, this.names, target));
  }

  /**
   * Removes the permissions that are not in `mask` from a regular file or a folder. "" is this folder.
   * @returns the mode afterwards, since some file systems ignore the change. @throws FileError when the entry cannot be
   * opened.
   */
  restrict(path: string, mask: number): number {
    const isFolder = path === "" || this.stat(path).kind === "folder";
    using opened = isFolder ? this.folder(path) : this.openFile(path);
    const { mode } = this.system.statOpen(opened.descriptor);
    fchmodSync(opened.descriptor, mode & 0o7777 & mask);
    return this.system.statOpen(opened.descriptor).mode;
  }

  /** Writes a new file. @throws FileError `EEXIST` when the path exists, even as a dangling link. */
  createFile(path: string, data: Uint8Array, { mode = 0o644, owner }: { mode?: number; owner?: Owner } = {}): void {
    using file = this.newFile(path, mode);
    if (owner) fchownSync(file.descriptor, owner.uid, owner.gid);
    file.append(data);
  }

  /** Creates a file to write part by part; the caller closes it. @throws FileError as `createFile`. */
  newFile(path: string, mode: number): NewFile {
    const descriptor = this.system.open(this.descriptor, requireBelow(path), this.names, CREATE, mode);
    const file = new NewFile(descriptor);
    try {
      fchmodSync(descriptor, mode);
      return file;
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Moves an entry to another path. An entry that was there is replaced, even a link. */
  rename(path: string, newPath: string): void {
    this.#at(path, (from, name) =>
      this.#at(newPath, (to, newName) => this.system.rename(from, name, to, newName, this.names)),
    );
  }

  /** Removes a file or a link; what the link points to stays. */
  unlink(path: string): void {
    this.#at(path, (folder, name) => this.system.unlink(folder, name, this.names, "file"));
  }

  /**
   * Removes an empty folder. @throws FileError `ENOTEMPTY` or `EEXIST` when it is not empty, `ENOTDIR` when it is no
   * folder.
   */
  removeFolder(path: string): void {
    this.#at(path, (folder, name) => this.system.unlink(folder, name, this.names, "folder"));
  }

  /** Changes the owner of the entry itself, not of what a link points to. "" is this folder. */
  chown(path: string, owner: Owner): void {
    if (path === "") return fchownSync(this.descriptor, owner.uid, owner.gid);
    this.#at(path, (folder, name) => this.system.chown(folder, name, this.names, owner.uid, owner.gid));
  }

  /** Removes everything in this folder, in short steps between which other work gets its turn. */
  async empty(): Promise<void> {
    await emptyFolder(this, this.system, this.names);
  }

  #at<T>(path: string, act: (folder: number, name: string) => T): T {
    const slash = requireBelow(path).lastIndexOf("/");
    if (slash < 0) return act(this.descriptor, path);
    using parent = this.folder(path.slice(0, slash));
    return act(parent.descriptor, path.slice(slash + 1));
  }
}

/** A regular file that was opened for reading. */
export class OpenFile {
  constructor(
    readonly descriptor: number,
    /** Status of the file when it was opened. */
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

  /** Reads as many bytes as the file had when it was opened, even if it has grown since; fewer if it has shrunk. */
  readAll(): Buffer {
    const data = Buffer.allocUnsafe(this.stat.size);
    return data.subarray(0, this.read(data, 0));
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

/** A file that was created here, open for writing. */
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

function requireBelow(path: string): string {
  if (NOT_BENEATH.test(path)) throw new FileError("EXDEV", "a path that is not below the folder");
  return path;
}

const LISTED_AT_ONCE = 256;

/**
 * @param turn shared by the whole removal, so that other work gets its turn however the entries are spread over
 * folders.
 */
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
