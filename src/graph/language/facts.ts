/**
 * The facts of one file, and their packed form.
 *
 * `FileFacts` is what resolution reads: one Int32Array a table and the file's strings.
 */
import type { LanguageId } from "../model.ts";
import { EXPR, FACTS_VERSION, TABLES, type TableName, TYPE } from "./fact-layout.ts";

export interface FileFacts extends Record<TableName, Int32Array> {
  language: LanguageId;
  /** Share of the file the parser could not read: count of ERROR nodes. */
  errors: number;
  /** Lines of the file. */
  lines: number;
  strings: string[];
}

/** Rows of a table. */
export function rowCount(table: Int32Array, size: number): number {
  return table.length / size;
}

/** A column of an expression's row, `column` one of EXPR. */
export function exprCell(exprs: Int32Array, row: number, column: number): number {
  return exprs[row * EXPR.size + column]!;
}

/** A column of a type's row, `column` one of TYPE. */
export function typeCell(types: Int32Array, row: number, column: number): number {
  return types[row * TYPE.size + column]!;
}

/** The items of a list, or an empty array for -1. */
export function listItems(facts: FileFacts, list: number): Int32Array {
  if (list < 0) return EMPTY;
  const length = facts.lists[list]!;
  return facts.lists.subarray(list + 1, list + 1 + length);
}
const EMPTY = new Int32Array(0);

/** Words before the table lengths: version, errors, bytes of strings, count of strings, lines. */
const HEADER = 5;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Packs facts into one buffer: version, errors, table lengths, tables, then the strings. */
export function packFacts(facts: FileFacts): Uint8Array {
  const strings = encoder.encode(facts.strings.join("\u0000"));
  let words = HEADER + TABLES.length;
  for (const [name] of TABLES) words += facts[name].length;
  const bytes = new Uint8Array(words * 4 + strings.length);
  const ints = new Int32Array(bytes.buffer, 0, words);
  ints[0] = FACTS_VERSION;
  ints[1] = facts.errors;
  ints[2] = strings.length;
  ints[3] = facts.strings.length;
  ints[4] = facts.lines;
  let at = HEADER;
  for (const [name] of TABLES) ints[at++] = facts[name].length;
  for (const [name] of TABLES) {
    ints.set(facts[name], at);
    at += facts[name].length;
  }
  bytes.set(strings, words * 4);
  return bytes;
}

/** Unpacks what `packFacts` made; undefined when it is of another version or cut short. */
export function unpackFacts(packed: Uint8Array, language: LanguageId): FileFacts | undefined {
  const aligned = packed.byteOffset % 4 === 0 ? packed : packed.slice();
  if (aligned.length < (HEADER + TABLES.length) * 4) return undefined;
  const all = new Int32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / 4));
  if (all[0] !== FACTS_VERSION) return undefined;
  let at = HEADER + TABLES.length;
  const facts = { language, errors: all[1]!, lines: all[4]!, strings: [] as string[] } as unknown as FileFacts;
  for (let i = 0; i < TABLES.length; i++) {
    const length = all[HEADER + i]!;
    facts[TABLES[i]![0]] = length === 0 ? EMPTY : all.subarray(at, at + length);
    at += length;
  }
  const end = at * 4 + all[2]!;
  if (end > aligned.length) return undefined;
  facts.strings = all[3] === 0 ? [] : decoder.decode(aligned.subarray(at * 4, end)).split("\u0000");
  return facts;
}
