/**
 * Limits a command's output: keeps all of it, or its head and its tail with a line in between that counts the bytes
 * left out.
 */
import { wholeFrom, wholeTo } from "../../core/whole-characters.ts";

/** @param maxBytes limit for the raw bytes: half of it is for the head, half for the tail. */
export function createOutputWindow(maxBytes: number) {
  const headLimit = Math.ceil(maxBytes / 2);
  const tailLimit = maxBytes - headLimit;
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const head = createBlocks();
  const tail = createBlocks();
  let omittedBytes = 0;

  const keepTail = (chunk: Uint8Array) => {
    tail.add(chunk);
    omittedBytes += tail.dropFirst(tail.bytes() - tailLimit);
  };
  return {
    /** Takes a chunk and returns its text. Incomplete characters come with the next chunk. */
    push(stream: "stdout" | "stderr", chunk: Uint8Array): string {
      const forHead = Math.min(chunk.length, headLimit - head.bytes());
      if (forHead > 0) head.add(chunk.subarray(0, forHead));
      if (forHead < chunk.length) keepTail(chunk.subarray(Math.max(forHead, chunk.length - tailLimit)));
      omittedBytes += Math.max(0, chunk.length - tailLimit - forHead);
      return decoders[stream].decode(chunk, { stream: true });
    },
    end(): { output: string; omittedBytes: number } {
      if (omittedBytes === 0) return { output: Buffer.concat([...head.all(), ...tail.all()]).toString(), omittedBytes };
      const [start, finish] = [Buffer.concat(head.all()), Buffer.concat(tail.all())];
      const from = wholeFrom(finish);
      const to = wholeTo(start);
      const omitted = omittedBytes + from + (start.length - to);
      const line = `\n[… ${omitted} bytes left out …]\n`;
      return { output: start.toString("utf8", 0, to) + line + finish.toString("utf8", from), omittedBytes: omitted };
    },
  };
}

const BLOCK_BYTES = 64 * 1024;

/** Collects bytes in blocks. A program may write single bytes, and one object for each would cost a hundred bytes. */
function createBlocks() {
  const blocks: Buffer[] = [];
  /** Bytes used in the last block, bytes dropped from the first, and the total. */
  let [used, skipped, total] = [0, 0, 0];
  return {
    bytes: () => total,
    add(chunk: Uint8Array) {
      total += chunk.length;
      for (let at = 0; at < chunk.length; ) {
        if (blocks.length === 0 || used === BLOCK_BYTES) {
          blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
          used = 0;
        }
        const piece = chunk.subarray(at, at + BLOCK_BYTES - used);
        blocks.at(-1)?.set(piece, used);
        used += piece.length;
        at += piece.length;
      }
    },
    /** @returns the number of bytes that were dropped. */
    dropFirst(count: number): number {
      if (count <= 0) return 0;
      skipped += count;
      total -= count;
      const whole = Math.floor(skipped / BLOCK_BYTES);
      if (whole > 0) blocks.splice(0, whole);
      skipped -= whole * BLOCK_BYTES;
      return count;
    },
    all: () =>
      blocks.map((block, i) => block.subarray(i === 0 ? skipped : 0, i === blocks.length - 1 ? used : BLOCK_BYTES)),
  };
}
