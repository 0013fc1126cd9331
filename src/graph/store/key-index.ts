/** Which files may read a key, by the names that they hold, and which configuration files there are. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ANY_KEY } from "../language/key-names.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

export interface KeyIndex {
  /** Source files that hold a name where a key may stand, in their order. */
  filesWith(name: string): string[];
  /** Paths of configuration files. */
  settings: readonly string[];
}

/** What one file holds. */
interface FileKeys {
  path: string;
  /** As `keyNamesOf` gives them. */
  keys: Uint8Array;
}

/** Names of all files together; the files beyond are looked at whatever the name is. */
const MAX_BYTES = 64 * 1024 * 1024;
const ANY = new TextEncoder().encode(ANY_KEY);
const pathIn = (folder: string): string => join(folder, "keys.bin");

export function writeKeyIndex(folder: string, files: readonly FileKeys[], settings: readonly string[]): void {
  writeFileSync(pathIn(folder), packKeys(files, settings));
}

/** The same without a file. */
export const keyIndexOf = (files: readonly FileKeys[], settings: readonly string[]): KeyIndex =>
  openKeyIndex(packKeys(files, settings));

function packKeys(files: readonly FileKeys[], settings: readonly string[]): Uint8Array {
  const start = new Int32Array(files.length + 1);
  let left = MAX_BYTES;
  const parts = files.map(({ keys }, row) => {
    const part = keys.length <= left ? keys : ANY;
    left -= part === keys ? keys.length : 0;
    start[row + 1] = start[row]! + part.length;
    return part;
  });
  const columns = new Map<string, Column>([
    ["path", files.map(({ path }) => path)],
    ["start", start],
    ["keys", Buffer.concat(parts)],
    ["setting", settings],
  ]);
  return packColumns(columns, {});
}

export const hasKeyIndex = (folder: string): boolean => existsSync(pathIn(folder));

/** @returns undefined when there is none that can be read; it is removed, so that the next index makes it again */
export function readKeyIndex(folder: string): KeyIndex | undefined {
  try {
    return openKeyIndex(readFileSync(pathIn(folder)));
  } catch {
    rmSync(pathIn(folder), { force: true });
    return undefined;
  }
}

function openKeyIndex(packed: Uint8Array): KeyIndex {
  const reader = readColumns(packed);
  if (!reader) throw new Error("damaged");
  const [paths, start, bytes] = [reader.strings("path"), reader.ints("start"), reader.bytes("keys")];
  const keys = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    settings: reader.strings("setting"),
    filesWith(name) {
      const rows = new Set<number>();
      for (const text of [`\n${name}\n`, ANY_KEY])
        for (let at = keys.indexOf(text); at >= 0; ) {
          const row = rowAt(start, at);
          rows.add(row);
          at = keys.indexOf(text, start[row + 1]);
        }
      return [...rows].sort((a, b) => a - b).map((row) => paths[row]!);
    },
  };
}

/** The file whose names hold an offset. */
function rowAt(start: Int32Array, offset: number): number {
  let [low, high] = [0, start.length - 1];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (start[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}
