/**
 * A binary format for named columns: typed arrays and lists of strings. Typed arrays are read back as views, without
 * copying.
 *
 * Layout: magic number, length of the JSON header, header (name, kind, byte offset, length), then the columns, 8-byte
 * aligned.
 */
import { ownJson } from "../../core/own-json.ts";

const MAGIC = 0x53_4b_47_31;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export type Column = Uint8Array | Int32Array | Float64Array | readonly string[];

interface Entry {
  name: string;
  kind: "u8" | "i32" | "f64" | "str";
  offset: number;
  /** Number of elements; for strings, of bytes. */
  length: number;
  count: number;
}

/** Packs columns and a JSON value into one buffer. NUL separates strings, so any NUL inside a string is dropped. */
export function packColumns(columns: ReadonlyMap<string, Column>, meta: unknown): Uint8Array {
  const entries: Entry[] = [];
  const parts: { bytes: Uint8Array; offset: number }[] = [];
  let offset = 0;
  for (const [name, column] of columns) {
    let bytes: Uint8Array;
    let kind: Entry["kind"];
    let length: number;
    if (column instanceof Uint8Array) [bytes, kind, length] = [column, "u8", column.length];
    else if (column instanceof Int32Array || column instanceof Float64Array) {
      bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
      [kind, length] = [column instanceof Int32Array ? "i32" : "f64", column.length];
    } else {
      bytes = encoder.encode(joinTexts(column));
      [kind, length] = ["str", bytes.length];
    }
    entries.push({ name, kind, offset, length, count: column.length });
    parts.push({ bytes, offset });
    offset = (offset + bytes.length + 7) & ~7;
  }
  const header = encoder.encode(JSON.stringify({ entries, meta }));
  const start = (8 + header.length + 7) & ~7;
  const packed = new Uint8Array(start + offset);
  new DataView(packed.buffer).setUint32(0, MAGIC, true);
  new DataView(packed.buffer).setUint32(4, header.length, true);
  packed.set(header, 8);
  for (const part of parts) packed.set(part.bytes, start + part.offset);
  return packed;
}

function joinTexts(texts: readonly string[]): string {
  const text = texts.join("\u0000");
  let parts = 1;
  for (let at = text.indexOf("\u0000"); at >= 0; at = text.indexOf("\u0000", at + 1)) parts++;
  return parts <= Math.max(1, texts.length) ? text : texts.map((one) => one.replaceAll("\u0000", "")).join("\u0000");
}

interface ColumnReader {
  meta: unknown;
  has(name: string): boolean;
  bytes(name: string): Uint8Array;
  ints(name: string): Int32Array;
  numbers(name: string): Float64Array;
  strings(name: string): string[];
}

/** Reads what `packColumns` made. @returns undefined for other or incomplete data */
export function readColumns(packed: Uint8Array): ColumnReader | undefined {
  if (packed.length < 8) return undefined;
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const headerLength = view.getUint32(4, true);
  if (8 + headerLength > packed.length) return undefined;
  const header = ownJson<{ entries: Entry[]; meta: unknown }>(decoder.decode(packed.subarray(8, 8 + headerLength)));
  const start = packed.byteOffset + ((8 + headerLength + 7) & ~7);
  const byName = new Map(header.entries.map((entry) => [entry.name, entry]));
  const find = (name: string, size: number): Entry => {
    const entry = byName.get(name);
    if (!entry) throw new Error(`column ${name} is missing`);
    if (start + entry.offset + entry.length * size > packed.byteOffset + packed.byteLength)
      throw new Error(`column ${name} is cut short`);
    return entry;
  };
  return {
    meta: header.meta,
    has: (name) => byName.has(name),
    bytes(name) {
      const entry = find(name, 1);
      return new Uint8Array(packed.buffer, start + entry.offset, entry.length);
    },
    ints(name) {
      const entry = find(name, 4);
      return new Int32Array(packed.buffer, start + entry.offset, entry.length);
    },
    numbers(name) {
      const entry = find(name, 8);
      return new Float64Array(packed.buffer, start + entry.offset, entry.length);
    },
    strings(name) {
      const entry = find(name, 1);
      if (entry.count === 0) return [];
      return decoder.decode(new Uint8Array(packed.buffer, start + entry.offset, entry.length)).split("\u0000");
    },
  };
}
