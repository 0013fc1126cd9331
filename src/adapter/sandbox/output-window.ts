/** A command's output within a limit: all of it, or its head and its tail with a line between that counts the rest. */

export interface OutputWindow {
  /** Takes a chunk, decodes it and returns its text (whole characters only; the rest comes with the next chunk). */
  push(stream: "stdout" | "stderr", chunk: Uint8Array): string;
  end(): { output: string; omittedBytes: number };
}

/** `maxBytes` counts the bytes as they came; half of it is kept for the head, half for the tail. */
export function createOutputWindow(maxBytes: number): OutputWindow {
  const headLimit = Math.ceil(maxBytes / 2);
  const tailLimit = maxBytes - headLimit;
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const head: Uint8Array[] = [];
  const tail: Uint8Array[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let omittedBytes = 0;

  const keepTail = (chunk: Uint8Array) => {
    tail.push(chunk);
    tailBytes += chunk.length;
    while (tailBytes > tailLimit) {
      const first = tail[0]!;
      const excess = Math.min(first.length, tailBytes - tailLimit);
      if (excess === first.length) tail.shift();
      else tail[0] = first.subarray(excess);
      tailBytes -= excess;
      omittedBytes += excess;
    }
  };
  return {
    push(stream, chunk) {
      const forHead = Math.min(chunk.length, headLimit - headBytes);
      // Copies: a view would keep the whole network buffer alive.
      if (forHead > 0) head.push(chunk.slice(0, forHead));
      headBytes += forHead;
      if (forHead < chunk.length) keepTail(chunk.slice(Math.max(forHead, chunk.length - tailLimit)));
      omittedBytes += Math.max(0, chunk.length - tailLimit - forHead);
      return decoders[stream].decode(chunk, { stream: true });
    },
    end() {
      const [start, finish] = [Buffer.concat(head), Buffer.concat(tail)];
      if (omittedBytes === 0) return { output: Buffer.concat([start, finish]).toString(), omittedBytes };
      const from = wholeFrom(finish);
      const to = wholeTo(start);
      const omitted = omittedBytes + from + (start.length - to);
      const line = `\n[… ${omitted} bytes left out …]\n`;
      return { output: start.toString("utf8", 0, to) + line + finish.toString("utf8", from), omittedBytes: omitted };
    },
  };
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the first whole character begins. */
function wholeFrom(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return at;
}

/** Where the last whole character ends. */
function wholeTo(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}
