/**
 * Messages of a tool server's standard output: JSON-RPC, one message per line. Nothing else that a server
 * prints breaks the connection: other lines are reported and skipped, a line without end is never held whole.
 */
import { isObject } from "../../core/is-object.ts";

export interface LineReaderOptions {
  /** Longer lines are dropped while they come, bytes. */
  maxLineBytes: number;
  /** After this many bytes without a message the server is given up. */
  maxNoiseBytes: number;
  onMessage(message: object): void;
  /** A line that is not a message, cut to its beginning. */
  onNoise(text: string): void;
  /** A message that was too long. `id` is the request that it answers, where that can be read. */
  onTooLong(bytes: number, id: number | undefined): void;
  /** Nothing but noise for too long. Called once. */
  onFlood(bytes: number): void;
}

/** Of a line that is too long this much is kept of both ends: they say whose answer it is. */
const END_BYTES = 256;
const NOISE_CHARACTERS = 2_000;
const NEW_LINE = 10;

/** @returns what takes the chunks in order. */
export function createLineReader(options: LineReaderOptions): (chunk: Uint8Array) => void {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** Of a line that is being dropped: its beginning, its last bytes, and how long it is by now. */
  let dropped: { head: Buffer; tail: Buffer; bytes: number } | undefined;
  let noise = 0;
  let flooded = false;

  const addNoise = (bytes: number): void => {
    noise += bytes;
    if (flooded || noise <= options.maxNoiseBytes) return;
    flooded = true;
    options.onFlood(noise);
  };
  const take = (piece: Uint8Array): void => {
    if (dropped) {
      dropped.bytes += piece.length;
      dropped.tail = Buffer.from(Buffer.concat([dropped.tail, piece.subarray(-END_BYTES)]).subarray(-END_BYTES));
      return addNoise(piece.length);
    }
    parts.push(piece);
    held += piece.length;
    if (held <= options.maxLineBytes) return;
    const line = Buffer.concat(parts);
    dropped = {
      head: Buffer.from(line.subarray(0, END_BYTES)),
      tail: Buffer.from(line.subarray(-END_BYTES)),
      bytes: held,
    };
    addNoise(held);
    parts = [];
    held = 0;
  };
  const endLine = (): void => {
    if (dropped) {
      const { head, tail, bytes } = dropped;
      dropped = undefined;
      return options.onTooLong(bytes, idIn(head.toString("latin1"), tail.toString("latin1")));
    }
    const bytes = held;
    const text = Buffer.concat(parts).toString("utf8").trim();
    parts = [];
    held = 0;
    if (text === "") return;
    const message = messageIn(text);
    if (message) {
      noise = 0;
      return options.onMessage(message);
    }
    options.onNoise(text.slice(0, NOISE_CHARACTERS));
    addNoise(bytes);
  };
  return (chunk) => {
    for (let from = 0; from < chunk.length && !flooded; ) {
      const end = chunk.indexOf(NEW_LINE, from);
      // A copy: the engine's chunk is a view of a buffer that is used again.
      take(chunk.slice(from, end === -1 ? chunk.length : end));
      if (end === -1) return;
      endLine();
      from = end + 1;
    }
  };
}

/** The JSON-RPC message in a line, or undefined. A batch is not one: no revision that is spoken here has them. */
function messageIn(text: string): object | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value["jsonrpc"] === "2.0" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The id of an answer: members may be before or after its result. */
function idIn(head: string, tail: string): number | undefined {
  const [, first] = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*[,}]/.exec(head) ?? [];
  const [, last] = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail) ?? [];
  const id = first ?? last;
  return id === undefined ? undefined : Number(id);
}
