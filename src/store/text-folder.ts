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

export interface TextFolder {
  /** Entries by name; empty when the folder does not exist. Links count as what they lead to, if that is inside. */
  list(path: string): readonly FolderEntry[];
  /** Undefined when there is no such file inside the folder. Never throws. */
  read(path: string): TextFile | undefined;
  /**
   * Writes a file whole, making the folders above it; on the disk when it returns, unless `synced` is false.
   * @throws Problem 413 too large, 409 a link leads out.
   */
  write(path: string, text: string, how?: { synced: boolean }): void;
  /** Resolves when a file that was written with `synced: false` is on the disk, or was removed. */
  sync(path: string): Promise<void>;
  /** Removes a file, or a folder with all it holds; links in it are not followed. @returns false when there was none. */
  remove(path: string): boolean;
  /**
   * Reads on behalf of one answer: until `work` returns, each file and folder is looked at once on disk, however often it
   * is asked for. What is written through this folder meanwhile counts at once. `work` does not wait for anything.
   */
  snapshot<T>(work: () => T): T;
}

export const TEXT_FILE_BYTES = 512 * 1024;
const CACHED_FILES = 5_000;

interface Cached {
  stamp: string;
  file: TextFile;
}

/** What was found on disk, by path. */
interface Snapshot {
  lists: Map<string, readonly FolderEntry[]>;
  files: Map<string, TextFile | undefined>;
}

export function createTextFolder(root: string): TextFolder {
  const cache = new Map<string, Cached>();
  let snapshot: Snapshot | undefined;
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
  const read = (path: string): TextFile | undefined => {
    const real = resolve(path);
    const known = cache.get(path);
    const found = real === undefined ? undefined : readFile(real, path, known);
    if (found === undefined) cache.delete(path);
    else if (found !== known) {
      if (cache.size >= CACHED_FILES) cache.clear();
      cache.set(path, found);
    }
    return found?.file;
  };
  /** After a change of ours. */
  const forget = (path: string): void => {
    cache.delete(path);
    snapshot?.lists.clear();
    snapshot?.files.clear();
  };
  return {
    list(path) {
      const seen = snapshot?.lists.get(path);
      if (seen !== undefined) return seen;
      const found = list(path);
      snapshot?.lists.set(path, found);
      return found;
    },
    read(path) {
      if (snapshot?.files.has(path)) return snapshot.files.get(path);
      const found = read(path);
      snapshot?.files.set(path, found);
      return found;
    },
    snapshot(work) {
      if (snapshot !== undefined) return work();
      snapshot = { lists: new Map(), files: new Map() };
      try {
        return work();
      } finally {
        snapshot = undefined;
      }
    },
    write(path, text, { synced } = { synced: true }) {
      if (Buffer.byteLength(text) > TEXT_FILE_BYTES)
        throw new Problem(413, "too_large", `The file may hold ${TEXT_FILE_BYTES} bytes at most.`);
      assertInside(path);
      const target = join(root, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
      const draft = join(dirname(target), `.${randomUUID()}.tmp`);
      try {
        writeFileSync(draft, text, { mode: 0o644, flag: "wx" });
        if (synced) {
          const handle = openSync(draft, "r");
          fsyncSync(handle);
          closeSync(handle);
        }
        renameSync(draft, target);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
      forget(path);
    },
    async sync(path) {
      try {
        await using handle = await open(join(root, path));
        await handle.sync();
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
      }
    },
    remove(path) {
      assertInside(path);
      const target = join(root, path);
      try {
        if (!isThere(target)) return false;
        rmSync(target, { recursive: true, force: true, maxRetries: 3 });
        return true;
      } finally {
        forget(path);
      }
    },
  };
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function readFile(real: string, path: string, known: Cached | undefined): Cached | undefined {
  let handle: number;
  try {
    const before = statSync(real, { bigint: true });
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
      const text = decode(bytes.subarray(0, size));
      if (text === undefined) return failed("The file is not UTF-8 text.");
      return { stamp, file: { path, text, problem: undefined, modifiedAt } };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return undefined;
    return { stamp: "", file: { path, text: "", problem: `The file cannot be read (${code}).`, modifiedAt: 0 } };
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
