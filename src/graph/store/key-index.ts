/** Which source files may mention a key, and which configuration files there are. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ANY_KEY } from "../language/key-names.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

export interface KeyIndex {
  /** Source files that contain a name in a place where a key can stand, in the order of the files. */
  filesWith(name: string): string[];
  /** Paths of configuration files. */
  settings: readonly string[];
}

/** The key names in one file. */
interface FileKeys {
  path: string;
  /** The names in the format of `keyNamesOf`. */
  keys: Uint8Array;
}

/** Limit of the names of all files together, bytes. Files beyond it count as containing every name. */
const MAX_BYTES = 64 * 1024 * 1024;
const ANY = new TextEncoder().encode(ANY_KEY);
const pathIn = (folder: string): string => join(folder, "keys.bin");

export function writeKeyIndex(folder: string, files: readonly FileKeys[], settings: readonly string[]): void {
  writeFileSync(pathIn(folder), packKeys(files, settings));
}

/** A key index in memory. */
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

/** @returns undefined if the index cannot be read; it is then removed, so that the next index job makes it again */
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

/** The row of the file whose names are at an offset. */
function rowAt(start: Int32Array, offset: number): number {
  let [low, high] = [0, start.length - 1];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (start[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}
