/** Reads streams that may never end; no more bytes are held than the caller allows. */

type Chunks = AsyncIterable<Uint8Array> | null;

/** Reads up to `most` bytes, and says whether that is the whole stream. The rest is not read. */
export async function readBeginning(
  chunks: Chunks,
  most: number,
): Promise<{ bytes: Buffer<ArrayBuffer>; isWhole: boolean }> {
  const held: Uint8Array[] = [];
  let room = most;
  for await (const chunk of chunks ?? []) {
    held.push(chunk.subarray(0, room));
    room -= chunk.byteLength;
    if (room < 0) break;
  }
  return { bytes: Buffer.concat(held), isWhole: room >= 0 };
}

/** Reads the whole stream. @throws the error of `tooMuch` when there are more bytes. */
export async function readBounded(chunks: Chunks, most: number, tooMuch: () => Error): Promise<Buffer<ArrayBuffer>> {
  const { bytes, isWhole } = await readBeginning(chunks, most);
  if (!isWhole) throw tooMuch();
  return bytes;
}
