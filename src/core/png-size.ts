/** Checks whether bytes from outside are one PNG picture, and reads its size. Nothing is decoded. */

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHUNK_HEAD = 8;
const CHUNK_SUM = 4;
const HEADER_BYTES = 13;

/** Width and height in pixels; undefined unless the bytes are exactly one whole PNG. */
export function pngSize(bytes: Uint8Array): { width: number; height: number } | undefined {
  if (SIGNATURE.some((byte, at) => bytes[at] !== byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size: { width: number; height: number } | undefined;
  let at = SIGNATURE.length;
  while (at + CHUNK_HEAD + CHUNK_SUM <= bytes.length) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + CHUNK_HEAD));
    const end = at + CHUNK_HEAD + length + CHUNK_SUM;
    if (end > bytes.length) return undefined;
    if (!size) {
      if (type !== "IHDR" || length !== HEADER_BYTES) return undefined;
      size = { width: view.getUint32(at + CHUNK_HEAD), height: view.getUint32(at + CHUNK_HEAD + 4) };
      if (size.width === 0 || size.height === 0) return undefined;
    }
    if (type === "IEND") return length === 0 && end === bytes.length ? size : undefined;
    at = end;
  }
  return undefined;
}
