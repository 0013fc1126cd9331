/**
 * Bytes of a stream that are kept until its end: its first ones, or its last lines. They are copied, as pieces of a stream
 * belong to who reads it on, and into memory that was used before, as memory that is new to the process costs more
 * than the copy.
 */

const LINE_FEED = 10;
const BLOCK_BYTES = 16 * 1024;

interface Block {
  bytes: Buffer;
  length: number;
  /** Where its first line feed is; -1: not in what was looked through. */
  feed: number;
  looked: number;
}

/** @param spare memory for further blocks. */
function addTo(blocks: Block[], piece: Buffer, spare: Buffer[] = []): void {
  for (let at = 0; at < piece.length; ) {
    let last = blocks.at(-1);
    if (!last || last.length === BLOCK_BYTES) {
      last = { bytes: spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES), length: 0, feed: -1, looked: 0 };
      blocks.push(last);
    }
    const copied = piece.copy(last.bytes, last.length, at);
    last.length += copied;
    at += copied;
  }
}

const joined = (blocks: readonly Block[]): Buffer =>
  Buffer.concat(blocks.map(({ bytes, length }) => bytes.subarray(0, length)));

/** Keeps all that is added. */
export function createKeptBytes() {
  const blocks: Block[] = [];
  let bytes = 0;
  return {
    add(piece: Buffer): void {
      bytes += piece.length;
      addTo(blocks, piece);
    },
    bytes: () => bytes,
    all: () => joined(blocks),
  };
}

/**
 * Keeps the last lines that have so many bytes together, and the line before them whole.
 * @param most bytes of one line: a longer one is given up.
 */
export function createKeptLines(least: number, most: number) {
  const blocks: Block[] = [];
  const spare: Buffer[] = [];
  let total = 0;
  let isWhole = true;
  /** The first block after the first one in which a line begins, and the bytes before it. */
  let [next, before] = [1, 0];

  function hasFeed(block: Block): boolean {
    if (block.feed === -1 && block.looked < block.length) {
      block.feed = block.bytes.subarray(0, block.length).indexOf(LINE_FEED, block.looked);
      block.looked = block.length;
    }
    return block.feed !== -1;
  }
  function drop(count: number): void {
    for (const { bytes, length } of blocks.splice(0, count)) {
      total -= length;
      spare.push(bytes);
    }
    isWhole = false;
    next = 1;
    before = blocks[0]?.length ?? 0;
  }
  /** @returns the block in which the next line begins; undefined: it has not come yet. */
  function nextLine(): Block | undefined {
    if (next === 1) before = blocks[0]?.length ?? 0;
    for (let block = blocks[next]; block; block = blocks[next]) {
      if (hasFeed(block)) return block;
      // More may come into the last one.
      if (next === blocks.length - 1) return undefined;
      before += block.length;
      next++;
    }
    return undefined;
  }
  return {
    add(piece: Buffer): void {
      total += piece.length;
      addTo(blocks, piece, spare);
      for (let line = nextLine(); line && total - before - line.feed > least; line = nextLine()) drop(next);
      if (total > most + least) drop(blocks.length);
    },
    /** Whole lines from the beginning of one on, and whether nothing was dropped before them. */
    all(): { lines: Buffer; isWhole: boolean } {
      const all = joined(blocks);
      const from = isWhole ? 0 : all.indexOf(LINE_FEED) + 1;
      const to = all.lastIndexOf(LINE_FEED) + 1;
      return { lines: all.subarray(from, Math.max(from, to)), isWhole };
    },
  };
}
