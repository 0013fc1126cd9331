/**
 * The calls of the C library that node:fs lacks: those that take a folder's descriptor. The library is loaded at first
 * use, once per thread. A call that fails throws `FileError` with the system's error code.
 */
import { dlopen, type FFIFunction, type Pointer, ptr, read } from "bun:ffi";
import { constants } from "node:fs";
import { constants as systemConstants } from "node:os";
import { openCLibrary } from "../core/c-library.ts";

/** How names are encoded. `latin1` has one character per byte, for names that need not be valid UTF-8. */
export type NameEncoding = "utf8" | "latin1";

/** A failed call. `code` is as in node's errors: `ENOENT`, `ELOOP` (a link is in the way), `EXDEV`… */
export class FileError extends Error {
  constructor(
    readonly code: string,
    what: string,
  ) {
    super(`${code}: ${what}`);
  }
}

export interface Libc {
  /** Opens below a folder; no component may be a link. @returns a descriptor. */
  open(folder: number, path: string, names: NameEncoding, flags: number, mode?: number): number;
  /** Status of an entry itself, never of a link's target; undefined when there is no such entry. */
  find(folder: number, name: string, names: NameEncoding): FileStat | undefined;
  /** Status of an open file or folder. */
  statOpen(descriptor: number): FileStat;
  /** The next entries of an open folder; an empty list at the end. */
  entries(folder: number, names: NameEncoding): DirectoryEntry[];
  readLink(folder: number, name: string, names: NameEncoding): string;
  makeFolder(folder: number, name: string, names: NameEncoding, mode: number): void;
  /** Makes a link whose target is this text. */
  makeLink(folder: number, name: string, names: NameEncoding, target: string): void;
  unlink(folder: number, name: string, names: NameEncoding, kind: "file" | "folder"): void;
  rename(from: number, name: string, to: number, newName: string, names: NameEncoding): void;
  chown(folder: number, name: string, names: NameEncoding, uid: number, gid: number): void;
}

export type FileKind = "file" | "folder" | "link" | "other";

export interface DirectoryEntry {
  name: string;
  /** Undefined where the file system does not tell the kind; `find` does. */
  kind: FileKind | undefined;
}

export interface FileStat {
  kind: FileKind;
  /** Permission bits and type, as in `st_mode`. */
  mode: number;
  size: number;
  uid: number;
  gid: number;
  /** The low 32 bits, which git stores too. They suffice to tell that a file was replaced. */
  inode: number;
  modifiedSeconds: number;
  modifiedNanoseconds: number;
  changedSeconds: number;
  changedNanoseconds: number;
}

const isLinux = process.platform === "linux";
const PATH_BYTES = 4_096;
const ENTRIES_BYTES = 32 * 1024;
const O_CLOEXEC = isLinux ? 0x80000 : 0x1000000;
const O_PATH = 0x200000;
const O_NOFOLLOW_ANY = 0x20000000;
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = isLinux ? 0x100 : 0x20;
const AT_REMOVEDIR = isLinux ? 0x200 : 0x80;
const AT_EMPTY_PATH = 0x1000;
const STATX_BASIC = 0x7ff;
const RESOLVE_BENEATH_WITHOUT_LINKS = 0x08n | 0x04n | 0x02n;
const OPENAT2 = 437;
const GETDENTS64 = process.arch === "arm64" ? 61 : 217;

const COMMON = {
  openat: { args: ["i32", "ptr", "i32", "u32"], returns: "i32" },
  readlinkat: { args: ["i32", "ptr", "ptr", "u64"], returns: "i64_fast" },
  mkdirat: { args: ["i32", "ptr", "u32"], returns: "i32" },
  symlinkat: { args: ["ptr", "i32", "ptr"], returns: "i32" },
  unlinkat: { args: ["i32", "ptr", "i32"], returns: "i32" },
  renameat: { args: ["i32", "ptr", "i32", "ptr"], returns: "i32" },
  fchownat: { args: ["i32", "ptr", "u32", "u32", "i32"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
} as const;
const LINUX = {
  ...COMMON,
  syscall: { args: ["i64", "i32", "ptr", "ptr", "u64"], returns: "i64_fast" },
  statx: { args: ["i32", "ptr", "i32", "u32", "ptr"], returns: "i32" },
  __errno_location: { args: [], returns: "ptr" },
} as const;
/** Suffix of the functions that use 64-bit inode numbers; on arm64 these have no suffix. */
const WIDE = process.arch === "arm64" ? "" : "$INODE64";
const DARWIN = {
  ...COMMON,
  [`fstatat${WIDE}`]: { args: ["i32", "ptr", "ptr", "i32"], returns: "i32" },
  [`fstat${WIDE}`]: { args: ["i32", "ptr"], returns: "i32" },
  __getdirentries64: { args: ["i32", "ptr", "u64", "ptr"], returns: "i64_fast" },
  __error: { args: [], returns: "ptr" },
} as const;

const CODES = new Map(Object.entries(systemConstants.errno).map(([code, number]) => [number as number, code]));

let loaded: Libc | undefined;
/** The calls of this thread, loaded at first use. @throws Error when the C library cannot be loaded. */
export function getLibc(): Libc {
  loaded ??= loadLibc();
  return loaded;
}

/**
 * @param stepwise opens paths component by component, as on kernels and in containers without `openat2`
 * @param entriesBytes size of the buffer for one listing call
 */
export function loadLibc(stepwise = false, entriesBytes = ENTRIES_BYTES): Libc {
  const memory = createMemory(entriesBytes);
  return isLinux ? linuxCalls(memory, stepwise) : darwinCalls(memory);
}

type Memory = ReturnType<typeof createMemory>;

/** Memory for arguments and results. It is shared by all calls, since a thread makes one call at a time. */
function createMemory(entriesBytes: number) {
  // One large buffer of its own, whose address never changes.
  const block = new ArrayBuffer(4 * PATH_BYTES + entriesBytes);
  const toAddress = (offset: number): number => ptr(block, offset);
  const bytes = Buffer.from(block);
  const writePath = (text: string, names: NameEncoding, offset: number): number => {
    if (text.includes("\0")) throw new FileError("EINVAL", "a name with a NUL");
    // A character takes at most three bytes.
    if (3 * text.length >= PATH_BYTES && Buffer.byteLength(text, names) >= PATH_BYTES)
      throw new FileError("ENAMETOOLONG", "a path that is too long");
    bytes[offset + bytes.write(text, offset, names)] = 0;
    return toAddress(offset);
  };
  const entries = 4 * PATH_BYTES;
  return {
    bytes,
    view: new DataView(block),
    path: (text: string, names: NameEncoding) => writePath(text, names, 0),
    second: (text: string, names: NameEncoding) => writePath(text, names, PATH_BYTES),
    answer: { offset: 2 * PATH_BYTES, address: toAddress(2 * PATH_BYTES), size: PATH_BYTES },
    how: { offset: 3 * PATH_BYTES, address: toAddress(3 * PATH_BYTES) },
    entries: { offset: entries, address: toAddress(entries), size: entriesBytes },
  };
}

/** Functions by name; all take and return numbers. */
type Calls<Names> = { [Name in keyof Names]: (...args: number[]) => number };

const load = <Names extends object>(functions: Names): Calls<Names> =>
  openCLibrary((name) => dlopen(name, functions as Record<string, FFIFunction>)).symbols as unknown as Calls<Names>;

function createChecker(errno: () => number) {
  /** Reads `errno` directly after the call, before other code of this thread can change it. */
  const readErrno = (): string => {
    const number = read.i32(errno() as Pointer, 0);
    return CODES.get(number) ?? `E${number}`;
  };
  return {
    check(result: number, what: string): number {
      if (result >= 0) return result;
      throw new FileError(readErrno(), what);
    },
    /** False when the call failed with `ENOENT`. */
    isThere(result: number, what: string): boolean {
      if (result >= 0) return true;
      const code = readErrno();
      if (code === "ENOENT") return false;
      throw new FileError(code, what);
    },
  };
}

type Check = ReturnType<typeof createChecker>["check"];

/** The calls that are the same on Linux and macOS. */
function commonCalls(c: Calls<typeof COMMON>, memory: Memory, check: Check) {
  const { bytes, answer } = memory;
  return {
    readLink(folder, name, names) {
      const size = check(c.readlinkat(folder, memory.path(name, names), answer.address, answer.size), "readlink");
      return bytes.toString(names, answer.offset, answer.offset + size);
    },
    makeFolder: (folder, name, names, mode) =>
      void check(c.mkdirat(folder, memory.path(name, names), mode), "make folder"),
    makeLink: (folder, name, names, target) =>
      void check(c.symlinkat(memory.second(target, names), folder, memory.path(name, names)), "make link"),
    unlink: (folder, name, names, kind) =>
      void check(c.unlinkat(folder, memory.path(name, names), kind === "folder" ? AT_REMOVEDIR : 0), "remove"),
    rename: (from, name, to, newName, names) =>
      void check(c.renameat(from, memory.path(name, names), to, memory.second(newName, names)), "rename"),
    chown: (folder, name, names, uid, gid) =>
      void check(c.fchownat(folder, memory.path(name, names), uid, gid, AT_SYMLINK_NOFOLLOW), "chown"),
  } satisfies Partial<Libc>;
}

function linuxCalls(memory: Memory, stepwise: boolean): Libc {
  const c = load(LINUX);
  const { check, isThere } = createChecker(c.__errno_location);
  const { view, how, answer, entries } = memory;
  view.setBigUint64(how.offset + 16, RESOLVE_BENEATH_WITHOUT_LINKS, true);
  const openat2 = (folder: number, path: number, flags: number, mode: number): number => {
    view.setUint32(how.offset, flags | O_CLOEXEC, true);
    view.setUint32(how.offset + 8, mode, true);
    return c.syscall(OPENAT2, folder, path, how.address, 24);
  };
  const openOne = (folder: number, name: string, names: NameEncoding, flags: number, mode: number) =>
    c.openat(folder, memory.path(name, names), flags | constants.O_NOFOLLOW | O_CLOEXEC, mode);
  /** As `openat2`, for systems without it: opens one folder at a time and refuses links. */
  const openInSteps = (folder: number, path: string, names: NameEncoding, flags: number, mode: number): number => {
    // Checks the whole path's length, as one call with the whole path would.
    memory.path(path, names);
    const parts = path.split("/");
    const last = parts.pop()!;
    let at = folder;
    try {
      for (const part of parts) {
        const next = check(openOne(at, part, names, O_PATH | constants.O_DIRECTORY, 0), "open");
        if (at !== folder) c.close(at);
        at = next;
      }
      return check(openOne(at, last, names, flags, mode), "open");
    } finally {
      if (at !== folder) c.close(at);
    }
  };
  // `openat2` is missing before Linux 5.6, and some containers' seccomp filters forbid system calls they do not know.
  const probe = stepwise ? -1 : openat2(AT_FDCWD, memory.path(".", "utf8"), O_PATH, 0);
  if (probe >= 0) c.close(probe);
  const readStat = (at: number, path: number, flags: number): FileStat | undefined =>
    isThere(c.statx(at, path, flags, STATX_BASIC, answer.address), "stat") ? linuxStat(view, answer.offset) : undefined;
  return {
    ...commonCalls(c, memory, check),
    open: (folder, path, names, flags, mode = 0) =>
      probe < 0
        ? openInSteps(folder, path, names, flags, mode)
        : check(openat2(folder, memory.path(path, names), flags, mode), "open"),
    find: (folder, name, names) => readStat(folder, memory.path(name, names), AT_SYMLINK_NOFOLLOW),
    statOpen: (descriptor) => readStat(descriptor, memory.path("", "utf8"), AT_EMPTY_PATH)!,
    entries(folder, names) {
      const list = () => check(c.syscall(GETDENTS64, folder, entries.address, entries.size, 0), "list");
      return nextEntries(memory, list, names, { type: 18, name: 19 });
    },
  };
}

function darwinCalls(memory: Memory): Libc {
  const c = load(DARWIN);
  const { check, isThere } = createChecker(c.__error);
  const { view, answer, how, entries } = memory;
  const { [`fstatat${WIDE}`]: fstatat, [`fstat${WIDE}`]: fstat } = c as Calls<Record<string, unknown>>;
  const readStat = (result: number): FileStat | undefined =>
    isThere(result, "stat") ? darwinStat(view, answer.offset) : undefined;
  return {
    ...commonCalls(c, memory, check),
    // The mode is a variadic argument, which this interface cannot pass: whoever creates a file sets its mode
    // afterwards.
    open: (folder, path, names, flags, mode = 0) =>
      check(c.openat(folder, memory.path(path, names), flags | O_NOFOLLOW_ANY | O_CLOEXEC, mode), "open"),
    find: (folder, name, names) =>
      readStat(fstatat!(folder, memory.path(name, names), answer.address, AT_SYMLINK_NOFOLLOW)),
    statOpen: (descriptor) => readStat(fstat!(descriptor, answer.address))!,
    entries(folder, names) {
      const list = () => check(c.__getdirentries64(folder, entries.address, entries.size, how.address), "list");
      return nextEntries(memory, list, names, { type: 20, name: 21 });
    },
  };
}

const KINDS: Readonly<Record<number, FileKind>> = { 4: "folder", 8: "file", 10: "link" };

/**
 * Lists until there is an entry or the end of the folder is reached. A signal (seen with a profiler's) can end a call
 * early, after no more than `.` and `..`. Taking such a call for the end would make a folder look empty.
 */
function nextEntries(memory: Memory, list: () => number, names: NameEncoding, field: EntryFields): DirectoryEntry[] {
  for (;;) {
    const size = list();
    const found = readEntries(memory, size, names, field);
    if (size === 0 || found.length > 0) return found;
  }
}

/** Byte offsets of the parts of a directory entry. */
interface EntryFields {
  type: number;
  name: number;
}

function readEntries(
  { bytes, view, entries }: Memory,
  size: number,
  names: NameEncoding,
  field: EntryFields,
): DirectoryEntry[] {
  const found: DirectoryEntry[] = [];
  const end = entries.offset + size;
  for (let at = entries.offset; at < end; at += view.getUint16(at + 16, true)) {
    const start = at + field.name;
    const name = bytes.toString(names, start, bytes.indexOf(0, start));
    if (name === "." || name === "..") continue;
    const type = bytes[at + field.type]!;
    found.push({ name, kind: type === 0 ? undefined : (KINDS[type] ?? "other") });
  }
  return found;
}

function kindOf(mode: number): FileKind {
  return KINDS[(mode & constants.S_IFMT) >> 12] ?? "other";
}

/** `struct statx` is the same on every processor. */
function linuxStat(view: DataView, at: number): FileStat {
  const mode = view.getUint16(at + 28, true);
  return {
    kind: kindOf(mode),
    mode,
    size: readInt64(view, at + 40),
    uid: view.getUint32(at + 20, true),
    gid: view.getUint32(at + 24, true),
    inode: view.getUint32(at + 32, true),
    changedSeconds: readInt64(view, at + 96),
    changedNanoseconds: view.getUint32(at + 104, true),
    modifiedSeconds: readInt64(view, at + 112),
    modifiedNanoseconds: view.getUint32(at + 120, true),
  };
}

function darwinStat(view: DataView, at: number): FileStat {
  const mode = view.getUint16(at + 4, true);
  return {
    kind: kindOf(mode),
    mode,
    size: readInt64(view, at + 96),
    uid: view.getUint32(at + 16, true),
    gid: view.getUint32(at + 20, true),
    inode: view.getUint32(at + 8, true),
    changedSeconds: readInt64(view, at + 64),
    changedNanoseconds: readInt64(view, at + 72),
    modifiedSeconds: readInt64(view, at + 48),
    modifiedNanoseconds: readInt64(view, at + 56),
  };
}

/** Reads a signed 64-bit number; exact up to 2^53. */
function readInt64(view: DataView, at: number): number {
  return view.getInt32(at + 4, true) * 0x1_0000_0000 + view.getUint32(at, true);
}
