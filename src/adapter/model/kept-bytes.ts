/**
 * Keeps bytes of a stream until its end: its first bytes, or its last lines. They are copied, because the pieces of a
 * stream belong to the next reader. Memory is reused, because memory that is new to the process costs more than the
 * copy.
 */

const LINE_FEED = 10;
const BLOCK_BYTES = 16 * 1024;

interface Block {
  bytes: Buffer;
  length: number;
  /** Position of the block's first line feed; -1 when the bytes searched so far have none. */
  feed: number;
  looked: number;
}

/** Appends a piece to the last blocks. @param spare memory that is used for further blocks. */
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

const joinBlocks = (blocks: readonly Block[]): Buffer =>
  Buffer.concat(blocks.map(({ bytes, length }) => bytes.subarray(0, length)));

/** Keeps all bytes that are added. */
export function createKeptBytes() {
  const blocks: Block[] = [];
  let bytes = 0;
  return {
    add(piece: Buffer): void {
      bytes += piece.length;
      addTo(blocks, piece);
    },
    bytes: () => bytes,
    all: () => joinBlocks(blocks),
  };
}

/**
 * Keeps the last lines: at least the last `least` bytes, from the beginning of a line on.
 * @param most bytes of one line; when a line is longer, everything kept is dropped.
 */
export function createKeptLines(least: number, most: number) {
  const blocks: Block[] = [];
  const spare: Buffer[] = [];
  let total = 0;
  let isWhole = true;
  /** Index of the first block, after block 0, in which a line begins, and the number of bytes before it. */
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
  /** @returns the block in which the next line begins; undefined when no further line has begun yet. */
  function nextLine(): Block | undefined {
    if (next === 1) before = blocks[0]?.length ?? 0;
    for (let block = blocks[next]; block; block = blocks[next]) {
      if (hasFeed(block)) return block;
      // The last block may still get a line feed.
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
    /** The kept bytes as whole lines, and whether nothing before them was dropped. */
    all(): { lines: Buffer; isWhole: boolean } {
      const all = joinBlocks(blocks);
      const from = isWhole ? 0 : all.indexOf(LINE_FEED) + 1;
      const to = all.lastIndexOf(LINE_FEED) + 1;
      return { lines: all.subarray(from, Math.max(from, to)), isWhole };
    },
  };
}
