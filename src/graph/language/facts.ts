/** The facts of one file, as resolution reads them, and their packed form. */
import type { LanguageId } from "../model.ts";
import { FACTS_VERSION } from "./fact-layout.ts";
import {
  countSymbols,
  type FactTables,
  hasRows,
  readLengths,
  readTable,
  readTables,
  TABLE_NAMES,
  type TableName,
} from "./tables/tables.ts";

export interface FileFacts extends FactTables {
  language: LanguageId;
  /** Number of lines that the parser could not read, in whole or in part. */
  unread: number;
  /** Number of lines of the file. */
  lines: number;
  strings: string[];
  /** Names that may be configuration keys, in the format of `keyNamesOf`. */
  keys: Uint8Array;
}

/** Words before the table lengths: version, unread lines, bytes of strings, number of strings, lines, bytes of keys. */
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

/**
 * The facts of a file in the repository. The constructor reads only the values that are needed of every file.
 * Everything else is read on demand, because an edit of one file needs nothing else from most other files.
 */
export class SourceFacts {
  private all: FileFacts | undefined;
  /** Number of lines that the parser could not read, in whole or in part. */
  readonly unread: number;
  /** Number of lines of the file. */
  readonly lines: number;
  /** Number of symbols, hidden ones included. */
  readonly symbolCount: number;

  /**
   * @param packed packed facts whose header was checked
   * @param words the part of the packed facts before the texts
   * @param filled which tables have rows, as returned by `readLengths`
   */
  constructor(
    readonly language: LanguageId,
    private readonly packed: Uint8Array,
    private readonly words: Int32Array,
    private readonly filled: number,
    private readonly pool: Map<string, string> | undefined,
  ) {
    this.unread = words[1]!;
    this.lines = words[4]!;
    this.symbolCount = countSymbols(words, HEADER);
  }

  /** Whether a table has rows. */
  has(name: TableName): boolean {
    return hasRows(name, this.filled);
  }

  /** A single table, for a search in all files. */
  table<Name extends TableName>(name: Name): FactTables[Name] {
    return this.all?.[name] ?? readTable(name, this.words, HEADER);
  }

  /** The bytes of the strings, separated by NUL, followed by those of the keys. */
  get texts(): Uint8Array {
    const start = this.words.byteLength;
    return this.packed.subarray(start, start + this.words[2]! + this.words[5]!);
  }

  /** Names that may be configuration keys, in the format of `keyNamesOf`. */
  get keys(): Uint8Array {
    const start = this.words.byteLength + this.words[2]!;
    return this.packed.subarray(start, start + this.words[5]!);
  }

  /** All facts. */
  read(): FileFacts {
    this.all ??= this.unpack();
    return this.all;
  }

  private unpack(): FileFacts {
    const { language, packed, words, pool, unread, lines, keys } = this;
    const start = words.byteLength;
    const texts = packed.subarray(start, start + words[2]!);
    const strings = words[3] === 0 ? [] : decoder.decode(texts).split("\u0000");
    if (pool) for (const [i, text] of strings.entries()) strings[i] = keepOnce(pool, text);
    return { ...readTables(words, HEADER), language, unread, lines, strings, keys };
  }
}

/**
 * Opens what `packFacts` made. A damaged byte after a valid header is not detected: it results in other facts.
 * @param pool interned strings of other files, so that equal strings are kept in memory once
 * @returns undefined if the facts are of another version or incomplete
 */
export function openFacts(
  packed: Uint8Array,
  language: LanguageId,
  pool?: Map<string, string>,
): SourceFacts | undefined {
  const aligned = packed.byteOffset % 4 === 0 ? packed : packed.slice();
  const all = new Int32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / 4));
  if (all[0] !== FACTS_VERSION) return undefined;
  const layout = readLengths(all, HEADER);
  const [strings = -1, keys = -1] = [all[2], all[5]];
  if (!layout || strings < 0 || keys < 0 || layout.end * 4 + strings + keys > aligned.length) return undefined;
  return new SourceFacts(language, aligned, all.subarray(0, layout.end), layout.filled, pool);
}

/** @returns the equal text in the pool; a text without an equal one is added and returned */
function keepOnce(pool: Map<string, string>, text: string): string {
  const known = pool.get(text);
  if (known === undefined) pool.set(text, text);
  return known ?? text;
}
