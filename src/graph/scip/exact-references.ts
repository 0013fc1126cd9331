/**
 * The calls that a compiler reported, in terms of nodes. They are kept beside the graph, and every index uses them.
 * They hold for a file as long as it has the content from which they were made.
 */
import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { membersOf } from "../../core/is-object.ts";
import { type Column, packColumns, readColumns } from "../store/columns.ts";

/** A call on a line of a file. */
export interface ExactCall {
  line: number;
  /** The called name, as it is written in the source. */
  name: string;
  /** Id of the node that the call reaches. */
  to: string;
}

export interface ExactFile {
  path: string;
  /** Hash of the content for which the calls hold. */
  hash: string;
  calls: ExactCall[];
}

export interface ExactReferences {
  files: ReadonlyMap<string, ExactFile>;
}

const FORMAT = 1;
const NONE: ExactReferences = { files: new Map() };

/** Files in a graph's folder: a SCIP index that waits to be imported, and the imported references. */
export const incomingScip = (folder: string): string => join(folder, "incoming.scip");
const keptIn = (folder: string): string => join(folder, "exact.bin");

/** Identifies the references; it also changes while an index waits to be imported. "" if there are none. */
export function exactVersion(folder: string): string {
  const kept = statSync(keptIn(folder), { throwIfNoEntry: false });
  const waits = existsSync(incomingScip(folder)) ? "+" : "";
  return (kept ? `${kept.size} ${kept.mtimeMs}` : "") + waits;
}

/** Reads the references in a graph's folder. They are empty if there are none, or if they cannot be read. */
export function readExactReferences(folder: string): ExactReferences {
  if (!existsSync(keptIn(folder))) return NONE;
  try {
    const reader = readColumns(readFileSync(keptIn(folder)));
    if (!reader || membersOf(reader.meta)["format"] !== FORMAT) return NONE;
    const [paths, hashes, texts] = [reader.strings("path"), reader.strings("hash"), reader.strings("text")];
    const [counts, cells] = [reader.ints("count"), reader.ints("call")];
    const files = new Map<string, ExactFile>();
    let at = 0;
    for (const [row, path] of paths.entries()) {
      const calls: ExactCall[] = [];
      for (let i = 0; i < (counts[row] ?? 0); i++, at += 3) {
        const readText = (column: number) => texts[cells[at + column] ?? -1] ?? "";
        calls.push({ line: cells[at] ?? 0, name: readText(1), to: readText(2) });
      }
      files.set(path, { path, hash: hashes[row] ?? "", calls });
    }
    return { files };
  } catch {
    return NONE;
  }
}

/** Replaces the references in a graph's folder. */
export function writeExactReferences(folder: string, files: readonly ExactFile[]): void {
  const texts = new Map<string, number>();
  const rowOf = (text: string): number => {
    const row = texts.get(text) ?? texts.size;
    texts.set(text, row);
    return row;
  };
  const cells = files.flatMap(({ calls }) => calls.flatMap(({ line, name, to }) => [line, rowOf(name), rowOf(to)]));
  const packed = packColumns(
    new Map<string, Column>([
      ["path", files.map(({ path }) => path)],
      ["hash", files.map(({ hash }) => hash)],
      ["text", [...texts.keys()]],
      ["count", Int32Array.from(files, ({ calls }) => calls.length)],
      ["call", Int32Array.from(cells)],
    ]),
    { format: FORMAT },
  );
  const aside = `${keptIn(folder)}.new`;
  writeFileSync(aside, packed);
  renameSync(aside, keptIn(folder));
}

/** Puts a SCIP index beside a graph. The next index job imports it. */
export async function putScip(folder: string, path: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const aside = `${incomingScip(folder)}.${randomUUID()}`;
  try {
    await copyFile(path, aside);
    await rename(aside, incomingScip(folder));
  } finally {
    await rm(aside, { force: true });
  }
}

/** Removes the references in a graph's folder. */
export const removeExactReferences = (folder: string): void => rmSync(keptIn(folder), { force: true });

/** Shares the references of another graph of the same sources, by a hard link, unless the graph has its own. */
export function shareExactReferences(from: string, to: string): void {
  if (existsSync(keptIn(from)) && !existsSync(keptIn(to))) linkSync(keptIn(from), keptIn(to));
}
