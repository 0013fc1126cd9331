/**
 * Parses the engine's multiplexed stream: frames of an 8-byte header (stream number, three zeros, length big-endian)
 * and a payload. Payloads are passed on as they arrive, so a frame is never buffered whole.
 */

export type FrameSink = (stream: "stdout" | "stderr", chunk: Uint8Array) => void;

const HEADER_BYTES = 8;

/**
 * Makes a parser that takes chunks in order. It throws on an invalid header, as of a TTY stream or a wrong endpoint.
 */
export function createDemuxer(sink: FrameSink): (chunk: Uint8Array) => void {
  const header = new Uint8Array(HEADER_BYTES);
  let headerFilled = 0;
  let remaining = 0;
  let stream: "stdout" | "stderr" = "stdout";
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (remaining > 0) {
        const end = Math.min(chunk.length, at + remaining);
        sink(stream, chunk.subarray(at, end));
        remaining -= end - at;
        at = end;
        continue;
      }
      header[headerFilled++] = chunk[at++]!;
      if (headerFilled < HEADER_BYTES) continue;
      headerFilled = 0;
      if (header[0]! > 2 || header[1] !== 0 || header[2] !== 0 || header[3] !== 0)
        throw new Error("The engine's output stream is not multiplexed.");
      stream = header[0] === 2 ? "stderr" : "stdout";
      remaining = new DataView(header.buffer).getUint32(4);
    }
  };
}
