/**
 * What a compiler said of calls, in terms of nodes: kept beside the graph, so that every index uses it. What it says of
 * a file holds as long as the file has the content that it was said of.
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
  /** The called name as it is written. */
  name: string;
  /** Id of the node that it reaches. */
  to: string;
}

export interface ExactFile {
  path: string;
  /** Hash of the content. */
  hash: string;
  calls: ExactCall[];
}

export interface ExactReferences {
  files: ReadonlyMap<string, ExactFile>;
}

const FORMAT = 1;
const NONE: ExactReferences = { files: new Map() };

/** In the folder of a graph: an index to take in, and what was taken in. */
export const incomingScip = (folder: string): string => join(folder, "incoming.scip");
const keptIn = (folder: string): string => join(folder, "exact.bin");

/** Another text for other references, and while an index waits to be taken in; "" for none. */
export function exactVersion(folder: string): string {
  const kept = statSync(keptIn(folder), { throwIfNoEntry: false });
  const waits = existsSync(incomingScip(folder)) ? "+" : "";
  return (kept ? `${kept.size} ${kept.mtimeMs}` : "") + waits;
}

/** The references kept in a graph's folder; none where there are none that can be read. */
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
        const text = (column: number) => texts[cells[at + column] ?? -1] ?? "";
        calls.push({ line: cells[at] ?? 0, name: text(1), to: text(2) });
      }
      files.set(path, { path, hash: hashes[row] ?? "", calls });
    }
    return { files };
  } catch {
    return NONE;
  }
}

/** Replaces what is kept. */
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

/** Puts a SCIP index beside a graph: the next index job takes it in. */
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

/** Forgets what is kept. */
export const removeExactReferences = (folder: string): void => rmSync(keptIn(folder), { force: true });

/** Takes over what another graph of the same sources keeps. */
export function shareExactReferences(from: string, to: string): void {
  if (existsSync(keptIn(from)) && !existsSync(keptIn(to))) linkSync(keptIn(from), keptIn(to));
}
