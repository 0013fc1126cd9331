/**
 * Text files that people write and the server reads: agents, skills, pipelines. The file is the truth; what is read is
 * remembered until the file's state on disk changes, so an edit counts at once. Nothing outside of the folder is read
 * or written through a symbolic link. Writes are whole or not at all.
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
  /** Why it cannot be read; undefined when it can. */
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
/** Beyond one of these all is forgotten, and read again when needed. */
const [CACHED_FILES, CACHED_CHARACTERS] = [100_000, 64 * 1024 * 1024];
/** Files that are brought to the disk at once: the disk takes them in one go. */
const SYNCED_AT_ONCE = 32;

/** A text that is not yet in its file. */
interface Waiting {
  path: string;
  draft: string;
  file: TextFile;
}

interface Cached {
  stamp: string;
  file: TextFile;
}

/** The links of the folder lead nowhere else. */
function createInside(root: string) {
  const base = realpathSync(root);
  const isInside = (real: string): boolean => real === base || real.startsWith(base + sep);

  /** The real path inside the folder, links resolved; undefined when there is nothing, or it is outside. */
  const resolve = (path: string): string | undefined => {
    try {
      const real = realpathSync(join(root, path));
      return isInside(real) ? real : undefined;
    } catch {
      return undefined;
    }
  };
  /** Every folder above the path that exists is inside. */
  const assertInside = (path: string): void => {
    const parts = path.split("/");
    const outside = () =>
      new Problem(409, "outside_folder", "A link leads out of the folder; nothing is written there.");
    if (parts.some((part) => part === "" || part === "." || part === "..")) throw outside();
    for (let depth = 1; depth < parts.length; depth++) {
      const above = parts.slice(0, depth).join("/");
      if (!isThere(join(root, above))) return;
      if (resolve(above) === undefined) throw outside();
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
  /** The real path of a folder, looked up once in a snapshot. */
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
  /** After a change of ours: of the file, or of a folder and all in it. */
  const forget = (path: string): void => {
    cache.drop(path);
    snapshots.forget(path);
  };
  /** @returns where the text is until it takes the file's place. */
  const draftOf = (path: string, text: string): string => {
    if (Buffer.byteLength(text) > TEXT_FILE_BYTES)
      throw new Problem(413, "too_large", `The file may hold ${TEXT_FILE_BYTES} bytes at most.`);
    assertInside(path);
    return writeDraft(join(root, path), text);
  };
  /** Brings one to the disk and into its place, unless it was written again or removed meanwhile. */
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
    /** Entries by name; empty when the folder does not exist. Links count as what they lead to, if that is inside. */
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
     * Reads on behalf of one answer: until `work` returns, each file and folder is looked at once on disk, however often it
     * is asked for. What is written through this folder meanwhile counts at once. `work` does not wait for anything.
     */
    snapshot: snapshots.take,
    /**
     * The same where there may be thousands of files: `look` reads them first, one before each `yield`, and others get their
     * turn in between. `work` then finds them as `look` did.
     */
    snapshotInTurns: snapshots.takeInTurns,
    /** The same object in a snapshot until something is written; undefined outside of one. */
    moment: (): object | undefined => snapshots.current()?.moment,
    /**
     * Writes a file whole, making the folders above it; on the disk when it returns, unless `synced` is false.
     * @throws Problem 413 too large, 409 a link leads out.
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
     * The same without waiting for the disk: what is read through this folder is the new text at once, and its file is
     * replaced, whole, when the text is on the disk. A file that is written again meanwhile is replaced once.
     * @throws Problem as `write`.
     */
    writeSoon(path: string, text: string): void {
      const file = { path, text, problem: undefined, modifiedAt: Date.now() };
      const one = { path, draft: draftOf(path, text), file };
      waiting.set(path, one);
      forget(path);
      settling.add(one);
    },
    /** Resolves when all that was written so far is on the disk under its name. @throws what kept a file from it. */
    written: settling.done,
    /** Resolves when a file that was written with `synced: false` is on the disk, or was removed. */
    sync: (path: string): Promise<void> => syncFile(join(root, path)),
    /** Removes a file, or a folder with all it holds; links in it are not followed. @returns false when there was none. */
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

/** Writes the text beside the file, making the folder for both. @returns the draft's path. */
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

/** Brings a file to the disk, if it is there. */
async function syncFile(file: string): Promise<void> {
  try {
    await using handle = await open(file);
    await handle.sync();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** @param which "itself": `real` may be a link, which is said; else it was resolved. */
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
    const failed = (problem: string): Cached => ({ stamp, file: { path, text: "", problem, modifiedAt } });
    if (before.size > BigInt(TEXT_FILE_BYTES)) return failed(`The file is larger than ${TEXT_FILE_BYTES} bytes.`);
    handle = openSync(real, "r");
    try {
      const bytes = Buffer.alloc(Math.min(fstatSync(handle).size, TEXT_FILE_BYTES));
      let size = 0;
      for (let got = -1; got !== 0 && size < bytes.length; size += got)
        got = readSync(handle, bytes, size, bytes.length - size, null);
      const text = decodeText(bytes.subarray(0, size));
      if (text === undefined) return failed(NOT_TEXT);
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

/** A file's text, without a byte order mark; undefined: `NOT_TEXT`. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
