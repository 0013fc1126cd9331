/**
 * Masks texts in a stream of bytes, also texts that are split between chunks. Lengths stay the same, so that a
 * Content-Length stays right.
 */
import { Transform } from "node:stream";

const STAR = 42;

/** @param texts to mask; none may be empty. */
export function createEchoMask(texts: readonly string[]) {
  const needles = texts.map((text) => Buffer.from(text));
  const longest = Math.max(0, ...needles.map(({ length }) => length));
  /** Marks all occurrences of all texts, including overlapping ones. */
  function mark(bytes: Buffer, marks: Uint8Array): void {
    for (const needle of needles)
      for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1))
        marks.fill(1, at, at + needle.length);
  }
  function blank(bytes: Buffer, marks: Uint8Array): Buffer {
    const copy = Buffer.from(bytes);
    for (let at = marks.indexOf(1); at >= 0; at = marks.indexOf(1, at + 1)) copy[at] = STAR;
    return copy;
  }
  /** The most bytes at the end that may be the beginning of a text. */
  function openEnd(bytes: Buffer): number {
    for (let length = Math.min(longest - 1, bytes.length); length > 0; length--) {
      const end = bytes.subarray(bytes.length - length);
      if (needles.some((needle) => needle.length > length && needle.subarray(0, length).equals(end))) return length;
    }
    return 0;
  }
  return {
    text(text: string): string {
      const bytes = Buffer.from(text, "latin1");
      const marks = new Uint8Array(bytes.length);
      mark(bytes, marks);
      return blank(bytes, marks).toString("latin1");
    },
    /** A masking stream for one body. */
    stream(): Transform {
      // Bytes held back are kept unmasked, together with their marks, because a text may begin within the end of
      // another.
      let held: Buffer = Buffer.alloc(0);
      let heldMarks = new Uint8Array(0);
      return new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const bytes = Buffer.concat([held, chunk]);
          const marks = new Uint8Array(bytes.length);
          marks.set(heldMarks);
          mark(bytes, marks);
          const end = bytes.length - openEnd(bytes);
          [held, heldMarks] = [bytes.subarray(end), marks.slice(end)];
          done(null, blank(bytes.subarray(0, end), marks.subarray(0, end)));
        },
        flush(done) {
          done(null, blank(held, heldMarks));
        },
      });
    },
  };
}
