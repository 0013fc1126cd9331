/**
 * Splits bytes from outside into lines. A line has a bound: what is beyond it is dropped while it comes, so an endless
 * line costs its bound and no more.
 */

export interface Line {
  /** Without what ends it; of a line that is too long its first `maxBytes`. UTF-8. */
  text: string;
  /** As it came. */
  bytes: number;
  /** Its last bytes, where it was longer than `maxBytes`. */
  tail?: string;
}

interface LineSplitterOptions {
  /** Of one line. */
  maxBytes: number;
  /** The byte that ends a line, a line feed if nothing is said. */
  end?: number;
  /** A carriage return ends a line, too: progress, and events of servers. */
  atReturns?: boolean;
  onLine(line: Line): void;
  /** A line has just become too long. It may throw, so that the rest need not be read. */
  onExcess?: (() => void) | undefined;
}

const [LINE_FEED, RETURN] = [10, 13];
const EMPTY: Line = { text: "", bytes: 0 };
const TAIL_BYTES = 256;
const FIRST_BYTES = 1_024;

export function createLineSplitter({
  maxBytes,
  end: ending = LINE_FEED,
  atReturns = false,
  onLine,
  onExcess,
}: LineSplitterOptions) {
  let held = Buffer.alloc(0);
  /** Of the line that has begun: as it came, and as it is held. */
  let [bytes, kept] = [0, 0];
  let tail = Buffer.alloc(0);
  /** A line feed that follows a return ends nothing more. */
  let afterReturn = false;

  const hold = (piece: Uint8Array): void => {
    bytes += piece.length;
    if (bytes > maxBytes && bytes - piece.length <= maxBytes) onExcess?.();
    if (bytes > maxBytes) tail = Buffer.concat([tail, piece.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    const taken = piece.subarray(0, maxBytes - kept);
    if (taken.length === 0) return;
    if (kept + taken.length > held.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * (kept + taken.length))));
      held.copy(grown, 0, 0, kept);
      held = grown;
    }
    held.set(taken, kept);
    kept += taken.length;
  };
  const endLine = (): void => {
    if (bytes === 0) return onLine(EMPTY);
    const text = held.toString("utf8", 0, kept);
    const line = bytes > maxBytes ? { text, bytes, tail: tail.toString("latin1") } : { text, bytes };
    // A long line is not kept for the sake of the short ones after it.
    if (held.length > 64 * FIRST_BYTES) held = Buffer.alloc(0);
    [bytes, kept, tail] = [0, 0, Buffer.alloc(0)];
    onLine(line);
  };
  const nextEnd = (chunk: Uint8Array, from: number): number => {
    if (!atReturns) return chunk.indexOf(ending, from);
    for (let at = from; at < chunk.length; at++) if (chunk[at] === ending || chunk[at] === RETURN) return at;
    return -1;
  };
  return {
    add(chunk: Uint8Array): void {
      for (let from = 0; from < chunk.length; ) {
        if (afterReturn && chunk[from] === LINE_FEED) from++;
        afterReturn = false;
        const end = nextEnd(chunk, from);
        if (end !== from) hold(chunk.subarray(from, end === -1 ? chunk.length : end));
        if (end === -1) return;
        afterReturn = chunk[end] === RETURN;
        endLine();
        from = end + 1;
      }
    },
    /** The last line, which nothing ended. */
    end(): void {
      if (bytes > 0) endLine();
    },
  };
}
