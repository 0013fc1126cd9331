/**
 * Joins WAV files (RIFF). Sizes in the header are corrected, since some services stream a WAV with sizes of 0xFFFFFFFF.
 */

interface Wav {
  /** The `fmt ` chunk's content. */
  format: Buffer;
  data: Buffer;
}

/** @throws Error when it is not a WAV file. */
export function readWav(bytes: Uint8Array): Wav {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE")
    throw new Error("not a WAV file");
  let format: Buffer | undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const id = file.toString("latin1", at, at + 4);
    const size = Math.min(file.readUInt32LE(at + 4), file.length - at - 8);
    const content = file.subarray(at + 8, at + 8 + size);
    if (id === "fmt ") format = content;
    if (id === "data" && format) return { format, data: content };
    at += 8 + size + (size % 2);
  }
  throw new Error("a WAV file without sound");
}

/**
 * Joins the files, which must have the same format. @throws Error when formats differ, or a file is not a WAV file.
 */
export function joinWavs(files: readonly Uint8Array[]): Uint8Array {
  const wavs = files.map(readWav);
  const [first] = wavs;
  if (!first || wavs.some(({ format }) => !format.equals(first.format))) throw new Error("WAV files that differ");
  const size = wavs.reduce((sum, { data }) => sum + data.length, 0);
  const header = Buffer.alloc(28 + first.format.length);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(header.length + size + (size % 2) - 8, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(first.format.length, 16);
  first.format.copy(header, 20);
  header.write("data", 20 + first.format.length, "latin1");
  header.writeUInt32LE(size, 24 + first.format.length);
  return Buffer.concat([header, ...wavs.map(({ data }) => data), Buffer.alloc(size % 2)]);
}
