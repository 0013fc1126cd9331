/**
 * Reads messages from a tool server's standard output: JSON-RPC, one message per line. Other output does not break the
 * connection: such lines are reported and skipped. A line that never ends is never held whole.
 */
import { createLineSplitter } from "../../core/line-splitter.ts";
import type { MessageGate } from "./message-gate.ts";

interface LineReaderOptions {
  /** Bytes; a longer line is dropped as it arrives. */
  maxLineBytes: number;
  /** Bytes without a message after which the server is given up. */
  maxNoiseBytes: number;
  gate: Pick<MessageGate, "take" | "tooLong">;
  onMessage(message: object): void;
  /** Called once, when the server has sent too many bytes without a message. */
  onFlood(bytes: number): void;
}

/** @returns a function that takes the chunks in order. */
export function createLineReader({ gate, ...options }: LineReaderOptions): (chunk: Uint8Array) => void {
  let noise = 0;
  let flooded = false;
  const lines = createLineSplitter({
    maxBytes: options.maxLineBytes,
    onLine(line) {
      if (flooded) return;
      const text = line.text.trim();
      if (text === "") return;
      const taken = line.tail === undefined ? gate.take(text) : gate.tooLong(line);
      if (!taken) return;
      noise = 0;
      options.onMessage(taken.message);
    },
  });
  return (chunk) => {
    if (flooded) return;
    noise += chunk.byteLength;
    lines.add(chunk);
    if (noise <= options.maxNoiseBytes) return;
    flooded = true;
    options.onFlood(noise);
  };
}
