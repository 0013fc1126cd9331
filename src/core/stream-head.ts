/** Reads the first bytes of a connection piece by piece. The stream is left paused for the next reader. */
import type { Duplex } from "node:stream";

/**
 * The next piece; undefined at the end of the stream. An error counts as its end, since the stream's owner listens for
 * errors.
 */
export async function nextPiece(stream: Duplex): Promise<Buffer | undefined> {
  if (stream.destroyed || stream.readableEnded) return undefined;
  return await new Promise((resolve) => {
    const finish = (piece?: Buffer) => {
      stream.off("data", take).off("end", onEnd).off("close", onEnd);
      stream.pause();
      resolve(piece);
    };
    const take = (piece: Buffer) => finish(piece);
    const onEnd = () => finish();
    stream.on("data", take).on("end", onEnd).on("close", onEnd);
    stream.resume();
  });
}

interface Head {
  /** The head without the empty line. */
  text: string;
  /** Bytes after the head. */
  rest: Buffer;
}

/**
 * Reads an HTTP head up to its empty line. Undefined: the stream ended before. @throws Error when it is longer than
 * `maxBytes`.
 */
export async function readHead(stream: Duplex, maxBytes: number): Promise<Head | undefined> {
  let held = Buffer.alloc(0);
  for (;;) {
    const piece = await nextPiece(stream);
    if (!piece) return undefined;
    held = Buffer.concat([held, piece]);
    const end = held.indexOf("\r\n\r\n");
    if ((end < 0 ? held.length : end + 4) > maxBytes) throw new Error("its answer is too long");
    if (end >= 0) return { text: held.toString("latin1", 0, end), rest: held.subarray(end + 4) };
  }
}
