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
  list(path: string): FolderEntry[];
  /** Undefined when there is no such file inside the folder. Never throws. */
  read(path: string): TextFile | undefined;
  /** Writes a file whole, making the folders above it. @throws Problem 413 too large, 409 a link leads out. */
  write(path: string, text: string): void;
  /** Removes a file, or a folder with all it holds; links in it are not followed. @returns false when there was none. */
  remove(path: string): boolean;
}

export const TEXT_FILE_BYTES = 512 * 1024;
const CACHED_FILES = 5_000;

interface Cached {
  stamp: string;
  file: TextFile;
}

export function createTextFolder(root: string): TextFolder {
  const cache = new Map<string, Cached>();
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
  return {
    list(path) {
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
    },
    read(path) {
      const real = resolve(path);
      if (real === undefined) {
        cache.delete(path);
        return undefined;
      }
      const known = cache.get(path);
      const read = readFile(real, path, known);
      if (read === undefined) cache.delete(path);
      else if (read !== known) {
        if (cache.size >= CACHED_FILES) cache.clear();
        cache.set(path, read);
      }
      return read?.file;
    },
    write(path, text) {
      if (Buffer.byteLength(text) > TEXT_FILE_BYTES)
        throw new Problem(413, "too_large", `The file may hold ${TEXT_FILE_BYTES} bytes at most.`);
      assertInside(path);
      const target = join(root, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
      const draft = join(dirname(target), `.${randomUUID()}.tmp`);
      try {
        writeFileSync(draft, text, { mode: 0o644, flag: "wx" });
        const handle = openSync(draft, "r");
        fsyncSync(handle);
        closeSync(handle);
        renameSync(draft, target);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
      cache.delete(path);
    },
    remove(path) {
      assertInside(path);
      const target = join(root, path);
      cache.delete(path);
      if (!isThere(target)) return false;
      rmSync(target, { recursive: true, force: true, maxRetries: 3 });
      return true;
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
