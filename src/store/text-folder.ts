/**
 * Text files that people write and the server reads: agents, skills, pipelines. The files are authoritative. What was
 * read is cached until the file's state on disk changes, so an edit takes effect at once. Nothing outside the folder is
 * read or written through a symbolic link. Files are written completely or not at all.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { codeOf, Problem } from "../core/errors.ts";
import { inBatches } from "./batches.ts";
import { createSnapshots } from "./snapshots.ts";

export interface TextFile {
  /** Relative to the folder, with `/`. */
  path: string;
  /** Empty when `problem` is set. */
  text: string;
  /** Why the file cannot be read; undefined when it can. */
  problem: string | undefined;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
}

export interface FolderEntry {
  name: string;
  kind: "file" | "folder";
}

export type TextFolder = ReturnType<typeof createTextFolder>;

export const TEXT_FILE_BYTES = 512 * 1024;
/** When one of these limits is exceeded, the cache is cleared; files are read again when needed. */
const [CACHED_FILES, CACHED_CHARACTERS] = [100_000, 64 * 1024 * 1024];
/** Files synced to disk at the same time, which the disk can combine. */
const SYNCED_AT_ONCE = 32;

/** A text that has not reached its file yet. */
interface Waiting {
  path: string;
  draft: string;
  file: TextFile;
}

interface Cached {
  stamp: string;
  file: TextFile;
}

/** Access to the folder by which no link leads outside. */
function createInside(root: string) {
  const base = realpathSync(root);
  const isInside = (real: string): boolean => real === base || real.startsWith(base + sep);

  /** The real path inside the folder, with links resolved; undefined when there is nothing, or it is outside. */
  const resolve = (path: string): string | undefined => {
    try {
      const real = realpathSync(join(root, path));
      return isInside(real) ? real : undefined;
    } catch {
      return undefined;
    }
  };
  /** Asserts that every existing folder above the path is inside. */
  const assertInside = (path: string): void => {
    const parts = path.split("/");
    const createOutsideProblem = () =>
      new Problem(409, "outside_folder", "A link leads out of the folder; nothing is written there.");
    if (parts.some((part) => part === "" || part === "." || part === "..")) throw createOutsideProblem();
    for (let depth = 1; depth < parts.length; depth++) {
      const above = parts.slice(0, depth).join("/");
      if (!isThere(join(root, above))) return;
      if (resolve(above) === undefined) throw createOutsideProblem();
    }
  };
  const list = (path: string): readonly FolderEntry[] => {
    const folder = resolve(path);
    if (folder === undefined) return [];
    try {
      return readdirSync(folder, { withFileTypes: true })
        .flatMap((entry): FolderEntry[] => {
          if (entry.isFile()) return [{ name: entry.name, kind: "file" }];
          if (entry.isDirectory()) return [{ name: entry.name, kind: "folder" }];
          const real = entry.isSymbolicLink() ? resolve(join(path, entry.name)) : undefined;
          const stat = real === undefined ? undefined : statSync(real, { throwIfNoEntry: false });
          if (stat?.isFile()) return [{ name: entry.name, kind: "file" }];
          return stat?.isDirectory() ? [{ name: entry.name, kind: "folder" }] : [];
        })
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch {
      return [];
    }
  };
  return { resolve, assertInside, list };
}

function createFileCache() {
  const cache = new Map<string, Cached>();
  let cachedCharacters = 0;
  const drop = (path: string): void => {
    cachedCharacters -= cache.get(path)?.file.text.length ?? 0;
    cache.delete(path);
  };
  const keep = (path: string, found: Cached): void => {
    drop(path);
    cachedCharacters += found.file.text.length;
    if (cache.size >= CACHED_FILES || cachedCharacters > CACHED_CHARACTERS) {
      cache.clear();
      cachedCharacters = found.file.text.length;
    }
    cache.set(path, found);
  };
  return { get: (path: string) => cache.get(path), keep, drop };
}

export function createTextFolder(root: string) {
  const { resolve, assertInside, list } = createInside(root);
  const cache = createFileCache();
  const snapshots = createSnapshots();
  const waiting = new Map<string, Waiting>();
  /** The real path of a folder, looked up only once in a snapshot. */
  const resolveFolder = (path: string): string | undefined => {
    const folders = snapshots.current()?.folders;
    if (folders?.has(path)) return folders.get(path);
    const real = resolve(path);
    folders?.set(path, real);
    return real;
  };
  const find = (path: string, known: Cached | undefined): Cached | undefined => {
    const cut = path.lastIndexOf("/");
    const folder = resolveFolder(path.slice(0, Math.max(0, cut)));
    if (folder === undefined) return undefined;
    const name = path.slice(cut + 1);
    if (name === "" || name === "." || name === "..") return undefined;
    const found = readFile(join(folder, name), path, known, "itself");
    if (found !== "a link") return found;
    const real = resolve(path);
    const led = real === undefined ? undefined : readFile(real, path, known, "where it leads");
    return led === "a link" ? undefined : led;
  };
  const read = (path: string): TextFile | undefined => {
    const soon = waiting.get(path);
    if (soon) return soon.file;
    const known = cache.get(path);
    const found = find(path, known);
    if (found === undefined) cache.drop(path);
    else if (found !== known) cache.keep(path, found);
    return found?.file;
  };
  /** Call it after our own change of a file, or of a folder with its content. */
  const forget = (path: string): void => {
    cache.drop(path);
    snapshots.forget(path);
  };
  /** Writes the text to a temporary file. @returns that file's path. */
  const draftOf = (path: string, text: string): string => {
    if (Buffer.byteLength(text) > TEXT_FILE_BYTES)
      throw new Problem(413, "too_large", `The file may hold ${TEXT_FILE_BYTES} bytes at most.`);
    assertInside(path);
    return writeDraft(join(root, path), text);
  };
  /** Syncs a waiting text to disk and moves it into place, unless the file was written again or removed meanwhile. */
  const settle = async (one: Waiting): Promise<void> => {
    const isWanted = () => waiting.get(one.path) === one;
    try {
      if (isWanted()) {
        await using handle = await open(one.draft);
        await handle.sync();
      }
      if (isWanted()) renameSync(one.draft, join(root, one.path));
    } catch (error) {
      if (isWanted()) throw error;
    } finally {
      rmSync(one.draft, { force: true });
      if (isWanted()) waiting.delete(one.path);
      forget(one.path);
    }
  };
  const settling = inBatches(settle, SYNCED_AT_ONCE);
  return {
    /** Entries by name; empty when the folder does not exist. A link counts as its target, if the target is inside. */
    list(path: string): readonly FolderEntry[] {
      const lists = snapshots.current()?.lists;
      const seen = lists?.get(path);
      if (seen !== undefined) return seen;
      const found = list(path);
      lists?.set(path, found);
      return found;
    },
    /** Undefined when there is no such file inside the folder. Never throws. */
    read(path: string): TextFile | undefined {
      const files = snapshots.current()?.files;
      if (files?.has(path)) return files.get(path);
      const found = read(path);
      files?.set(path, found);
      return found;
    },
    /**
     * Takes a snapshot for one answer: until `work` returns, each file and folder is read from disk only once. Writes
     * through this folder take effect at once. `work` must be synchronous.
     */
    snapshot: snapshots.take,
    /**
     * Like `snapshot`, for thousands of files: `look` reads them first, one before each `yield`, and other work gets a
     * turn in between. `work` then sees the files as `look` saw them.
     */
    snapshotInTurns: snapshots.takeInTurns,
    /** The same object in a snapshot until something is written; undefined outside of a snapshot. */
    moment: (): object | undefined => snapshots.current()?.moment,
    /**
     * Writes a whole file and creates the folders above it. It is on disk on return, unless `synced` is false.
     * @throws Problem 413 too large, 409 a link leads outside.
     */
    write(path: string, text: string, { synced }: { synced: boolean } = { synced: true }): void {
      const draft = draftOf(path, text);
      try {
        if (synced) {
          const handle = openSync(draft, "r");
          fsyncSync(handle);
          closeSync(handle);
        }
        renameSync(draft, join(root, path));
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
      waiting.delete(path);
      forget(path);
    },
    /**
     * Like `write`, without waiting for the disk. Reads through this folder return the new text at once. The file is
     * replaced as a whole once the text is on disk; when it is written again before that, it is replaced only once.
     * @throws Problem as `write`.
     */
    writeSoon(path: string, text: string): void {
      const file = { path, text, problem: undefined, modifiedAt: Date.now() };
      const one = { path, draft: draftOf(path, text), file };
      waiting.set(path, one);
      forget(path);
      settling.add(one);
    },
    /** Resolves when all texts written so far are in their files on disk. @throws what prevented a write. */
    written: settling.waitUntilDone,
    /** Resolves when a file written with `synced: false` is on disk, or was removed. */
    sync: (path: string): Promise<void> => syncFile(join(root, path)),
    /** Removes a file, or a folder with its content; no link in it is followed. @returns false when there was none. */
    remove(path: string): boolean {
      assertInside(path);
      const target = join(root, path);
      try {
        const dropped = [...waiting.keys()].filter((one) => one === path || one.startsWith(`${path}/`));
        for (const one of dropped) waiting.delete(one);
        if (!isThere(target)) return dropped.length > 0;
        rmSync(target, { recursive: true, force: true, maxRetries: 3 });
        return true;
      } finally {
        forget(path);
      }
    },
  };
}

/** Writes the text next to the file, and creates their folder. @returns the draft's path. */
function writeDraft(file: string, text: string): string {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const draft = join(folder, `.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, text, { mode: 0o644, flag: "wx" });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return draft;
}

/** Syncs a file to disk, if it exists. */
async function syncFile(file: string): Promise<void> {
  try {
    await using handle = await open(file);
    await handle.sync();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** @param which "itself": `real` may be a link, which is then reported; otherwise links were already resolved. */
function readFile(
  real: string,
  path: string,
  known: Cached | undefined,
  which: "itself" | "where it leads",
): Cached | "a link" | undefined {
  let handle: number;
  try {
    const before = lstatSync(real, { bigint: true });
    if (before.isSymbolicLink() && which === "itself") return "a link";
    if (!before.isFile()) return undefined;
    const stamp = [before.dev, before.ino, before.size, before.mtimeNs, before.ctimeNs].join(":");
    if (known?.stamp === stamp) return known;
    const modifiedAt = Number(before.mtimeMs);
    const createFaulty = (problem: string): Cached => ({ stamp, file: { path, text: "", problem, modifiedAt } });
    if (before.size > BigInt(TEXT_FILE_BYTES)) return createFaulty(`The file is larger than ${TEXT_FILE_BYTES} bytes.`);
    handle = openSync(real, "r");
    try {
      const bytes = Buffer.alloc(Math.min(fstatSync(handle).size, TEXT_FILE_BYTES));
      let size = 0;
      for (let got = -1; got !== 0 && size < bytes.length; size += got)
        got = readSync(handle, bytes, size, bytes.length - size, null);
      const text = decodeText(bytes.subarray(0, size));
      if (text === undefined) return createFaulty(NOT_TEXT);
      return { stamp, file: { path, text, problem: undefined, modifiedAt } };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { stamp: "", file: { path, text: "", problem: `The file cannot be read (${code}).`, modifiedAt: 0 } };
  }
}

export const NOT_TEXT = "The file is not UTF-8 text.";

/** Decodes a file's bytes, without a byte order mark. Undefined if they are not UTF-8 (`NOT_TEXT`). */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
