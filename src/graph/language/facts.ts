/** The facts of one file, which resolution reads, and their packed form. */
import type { LanguageId } from "../model.ts";
import { FACTS_VERSION } from "./fact-layout.ts";
import { emptyTables, type FactTables, factTables, TABLE_NAMES, type TableName } from "./tables/tables.ts";

export interface FileFacts extends FactTables {
  language: LanguageId;
  /** Lines that the parser could not read, in whole or in part. */
  unread: number;
  /** Lines of the file. */
  lines: number;
  strings: string[];
  /** Names that may be configuration keys, as `keyNamesOf` gives them. */
  keys: Uint8Array;
}

/** Most files have no rows in most tables: those are the same for all files. */
const EMPTY = emptyTables();

function leaveEmpty<Name extends TableName>(tables: FactTables, name: Name): void {
  tables[name] = EMPTY[name];
}

/** Words before the table lengths: version, unread lines, bytes of strings, count of strings, lines, bytes of keys. */
const HEADER = 6;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Packs facts into one buffer: version, unread lines, table lengths, tables, then the strings and keys. */
export function packFacts(facts: FileFacts): Uint8Array {
  const strings = encoder.encode(facts.strings.join("\u0000"));
  let words = HEADER + TABLE_NAMES.length;
  for (const name of TABLE_NAMES) words += facts[name].cellCount;
  const bytes = new Uint8Array(words * 4 + strings.length + facts.keys.length);
  const ints = new Int32Array(bytes.buffer, 0, words);
  ints[0] = FACTS_VERSION;
  ints[1] = facts.unread;
  ints[2] = strings.length;
  ints[3] = facts.strings.length;
  ints[4] = facts.lines;
  ints[5] = facts.keys.length;
  let at = HEADER;
  for (const name of TABLE_NAMES) ints[at++] = facts[name].cellCount;
  for (const name of TABLE_NAMES) at = facts[name].copyTo(ints, at);
  bytes.set(strings, words * 4);
  bytes.set(facts.keys, words * 4 + strings.length);
  return bytes;
}

/** The texts of packed facts: their strings, divided by NUL, and their keys. Empty for facts of another version. */
export function textsOf(packed: Uint8Array): [strings: Uint8Array, keys: Uint8Array] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const int = (at: number) => view.getInt32(at * 4, true);
  let words = HEADER + TABLE_NAMES.length;
  if (packed.byteLength < words * 4 || int(0) !== FACTS_VERSION) return [packed.subarray(0, 0), packed.subarray(0, 0)];
  for (const at of TABLE_NAMES.keys()) words += int(HEADER + at);
  const end = words * 4 + int(2);
  return [packed.subarray(words * 4, end), packed.subarray(end, end + int(5))];
}

/**
 * Unpacks what `packFacts` made; undefined when it is of another version or cut short.
 * @param pool strings of other files: of those that are equal, one is kept in memory
 */
export function unpackFacts(
  packed: Uint8Array,
  language: LanguageId,
  pool?: Map<string, string>,
): FileFacts | undefined {
  const aligned = packed.byteOffset % 4 === 0 ? packed : packed.slice();
  if (aligned.length < (HEADER + TABLE_NAMES.length) * 4) return undefined;
  const all = new Int32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / 4));
  if (all[0] !== FACTS_VERSION) return undefined;
  let at = HEADER + TABLE_NAMES.length;
  const cells = new Map<TableName, Int32Array>();
  for (const [i, name] of TABLE_NAMES.entries()) {
    const length = all[HEADER + i]!;
    if (length > 0) cells.set(name, all.subarray(at, at + length));
    at += length;
  }
  const tables = factTables((name) => cells.get(name) ?? EMPTY[name].cells);
  for (const name of TABLE_NAMES) if (!cells.has(name)) leaveEmpty(tables, name);
  const end = at * 4 + all[2]!;
  const keysEnd = end + all[5]!;
  if (keysEnd > aligned.length) return undefined;
  const strings = all[3] === 0 ? [] : decoder.decode(aligned.subarray(at * 4, end)).split("\u0000");
  if (pool) for (const [i, text] of strings.entries()) strings[i] = keepOnce(pool, text);
  return { ...tables, language, unread: all[1]!, lines: all[4]!, strings, keys: aligned.subarray(end, keysEnd) };
}

/** @returns the text of the pool that equals this one, which joins it where there is none. */
function keepOnce(pool: Map<string, string>, text: string): string {
  const known = pool.get(text);
  if (known === undefined) pool.set(text, text);
  return known ?? text;
}
