/**
 * Splits bytes from outside into lines. A line has a limit. Bytes beyond it are dropped as they come, so an endless
 * line costs no more memory than the limit.
 */

export interface Line {
  /** UTF-8 text without the line end; for a line that is too long, its first `maxBytes`. */
  text: string;
  /** Length of the whole line, in bytes. */
  bytes: number;
  /** The last bytes of a line that was longer than `maxBytes`. */
  tail?: string;
}

interface LineSplitterOptions {
  /** Limit of one line. */
  maxBytes: number;
  /** The byte that ends a line; a line feed by default. */
  end?: number;
  /** True when a carriage return also ends a line, as in progress output and server-sent events. */
  atReturns?: boolean;
  onLine(line: Line): void;
  /** Called when a line has just become too long. It may throw, so that the rest need not be read. */
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
  /** Bytes of the current line: received, and held in memory. */
  let [bytes, kept] = [0, 0];
  let tail = Buffer.alloc(0);
  /** True after a carriage return: a line feed that follows belongs to the same line end. */
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
    // The buffer of a long line is released, since shorter lines do not need it.
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
    /** Ends the input. A last line without a line end is passed on. */
    end(): void {
      if (bytes > 0) endLine();
    },
  };
}
