/** Measures packed layers of a saved image. The engine unpacks them, and only unpacking shows how much they contain. */
import type { Transform } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";

/**
 * Reads an entry to its end. @param onBytes called with the number of unpacked bytes as they are found; it returns
 * false to stop counting.
 */
export async function countUnpacked(
  entry: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => boolean,
): Promise<void> {
  let unpacker: Transform | undefined;
  let isFirst = true;
  try {
    for await (const chunk of entry) {
      if (isFirst) unpacker = startUnpacker(chunk, onBytes);
      isFirst = false;
      if (unpacker && !unpacker.destroyed && !unpacker.write(chunk))
        await new Promise<void>((resume) => unpacker?.once("drain", resume).once("close", resume));
    }
    if (!unpacker || unpacker.destroyed) return;
    unpacker.end();
    await new Promise<void>((resume) => unpacker?.once("close", resume));
  } finally {
    unpacker?.destroy();
  }
}

/** Starts the unpacker for the entry's format; undefined when it is not packed in a format that engines unpack. */
function startUnpacker(first: Uint8Array, onBytes: (bytes: number) => boolean): Transform | undefined {
  const isGzip = first[0] === 0x1f && first[1] === 0x8b;
  const isZstd = first[0] === 0x28 && first[1] === 0xb5 && first[2] === 0x2f && first[3] === 0xfd;
  if (!isGzip && !isZstd) return undefined;
  const chunkSize = 256 * 1024;
  // Damaged or truncated data is counted as far as it unpacks; the engine refuses it.
  const unpacker = isGzip
    ? createGunzip({ chunkSize, finishFlush: constants.Z_SYNC_FLUSH })
    : createZstdDecompress({ chunkSize });
  unpacker.on("data", (chunk: Uint8Array) => {
    if (!onBytes(chunk.byteLength)) unpacker.destroy();
  });
  unpacker.on("error", () => unpacker.destroy());
  return unpacker;
}
