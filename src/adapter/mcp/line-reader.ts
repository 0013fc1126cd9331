/**
 * Messages of a tool server's standard output: JSON-RPC, one message per line. Nothing else that a server
 * prints breaks the connection: other lines are reported and skipped, a line without end is never held whole.
 */
import { createLineSplitter } from "../../core/line-splitter.ts";
import type { MessageGate } from "./message-gate.ts";

interface LineReaderOptions {
  /** Longer lines are dropped while they come, bytes. */
  maxLineBytes: number;
  /** After this many bytes without a message the server is given up. */
  maxNoiseBytes: number;
  gate: Pick<MessageGate, "take" | "tooLong">;
  onMessage(message: object): void;
  /** Nothing but noise for too long. Called once. */
  onFlood(bytes: number): void;
}

/** @returns what takes the chunks in order. */
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
