/** Segments of packed facts: files that are written once, and of which parts are read. */
import { closeSync, openSync, readFileSync, writevSync } from "node:fs";

/** What stands in a segment begins at multiples of so many bytes: facts hold integers. */
const UNIT = 8;
const EMPTY = new Uint8Array(0);

/** A part of a segment, in units of eight bytes. */
export interface Place {
  offset: number;
  length: number;
}

export class Segment {
  /** Bytes that are not in memory before somebody asks for them. */
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

  /** Whether a file of so many bytes has all of it. One that a process wrote and died may have more. */
  isWholeIn(fileBytes: number): boolean {
    return fileBytes >= this.length * UNIT;
  }
}

/**
 * A file's bytes, of which those are loaded that somebody reads: an edit reads a fraction of them. Of a map of its own,
 * no write would reach the file. The file must not become shorter while it is in use, and a segment never changes.
 */
function mapFile(path: string): Uint8Array {
  try {
    return Bun.mmap(path, { shared: false });
  } catch {
    // A file system without maps, or one that nobody may write to.
    return readFileSync(path);
  }
}

/** Parts that one system call takes. */
const PARTS_AT_ONCE = 1_000;

/** Writes a new segment. */
export class SegmentWriter implements Disposable {
  private readonly file: number;
  /** What is written, in units. */
  private end = 0;

  constructor(readonly path: string) {
    this.file = openSync(path, "w");
  }

  /** The segment as far as it is written. */
  get segment(): Segment {
    return new Segment(this.path, this.end);
  }

  /** Writes facts one after another, without joining them in memory. @returns where each of them stands */
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
