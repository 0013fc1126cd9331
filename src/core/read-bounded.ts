/** Bytes of a stream that nobody trusts to end: no more of them are held than were asked for. */

type Chunks = AsyncIterable<Uint8Array> | null;

/** The beginning, and whether that is all of it. What comes after it is not read. */
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

/** All of it. @throws what `tooMuch` makes where there is more. */
export async function readBounded(chunks: Chunks, most: number, tooMuch: () => Error): Promise<Buffer<ArrayBuffer>> {
  const { bytes, isWhole } = await readBeginning(chunks, most);
  if (!isWhole) throw tooMuch();
  return bytes;
}
