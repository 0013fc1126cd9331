/** Segments of packed facts: files that are written once and read in parts. */
import { closeSync, openSync, readFileSync, writevSync } from "node:fs";

/** Alignment in a segment, bytes. Packed facts hold integers, so they must be aligned. */
const UNIT = 8;
const EMPTY = new Uint8Array(0);

/** A part of a segment, in units of eight bytes. */
export interface Place {
  offset: number;
  length: number;
}

export class Segment {
  /** The file's bytes. The first read maps the file. */
  private bytes: Uint8Array | undefined;

  /** @param length in units of eight bytes */
  constructor(
    readonly path: string,
    readonly length: number,
  ) {}

  read({ offset, length }: Place): Uint8Array {
    if (length === 0) return EMPTY;
    this.bytes ??= mapFile(this.path);
    return this.bytes.subarray(offset * UNIT, (offset + length) * UNIT);
  }

  /**
   * Whether a file of this many bytes holds the whole segment. If a process died while writing, its file may be longer.
   */
  isWholeIn(fileBytes: number): boolean {
    return fileBytes >= this.length * UNIT;
  }
}

/**
 * Maps a file into memory. Only the parts that are read get loaded, and an edit reads a small part. The map is private,
 * so that writes to it do not reach the file. The file must not be shortened while it is mapped; a segment never
 * changes.
 */
function mapFile(path: string): Uint8Array {
  try {
    return Bun.mmap(path, { shared: false });
  } catch {
    // The file system cannot map files, or the file is not writable.
    return readFileSync(path);
  }
}

/** How many parts one system call writes. */
const PARTS_AT_ONCE = 1_000;

/** Writes a new segment. */
export class SegmentWriter implements Disposable {
  private readonly file: number;
  /** Length of the written part, in units. */
  private end = 0;

  constructor(readonly path: string) {
    this.file = openSync(path, "w");
  }

  /** A segment with everything that is written so far. */
  get segment(): Segment {
    return new Segment(this.path, this.end);
  }

  /** Appends facts one after another, without joining them in memory. @returns the place of each */
  append(all: readonly Uint8Array[]): Place[] {
    const parts: Uint8Array[] = [];
    const places = all.map((facts) => {
      const place = { offset: this.end, length: Math.ceil(facts.length / UNIT) };
      this.end += place.length;
      const rest = place.length * UNIT - facts.length;
      if (facts.length > 0) parts.push(facts);
      if (rest > 0) parts.push(new Uint8Array(rest));
      return place;
    });
    for (let at = 0; at < parts.length; at += PARTS_AT_ONCE) this.write(parts.slice(at, at + PARTS_AT_ONCE));
    return places;
  }

  private write(parts: readonly Uint8Array[]): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const written = writevSync(this.file, parts);
    if (written < bytes) throw new Error(`${this.path}: ${written} of ${bytes} bytes could be written`);
  }

  [Symbol.dispose](): void {
    closeSync(this.file);
  }
}
