/**
 * A transport of the protocol library over a server's standard streams. The library's own starts each server twice to
 * find out which revision it speaks, waits for silent ones, and gives up at a long line.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createLineReader } from "./line-reader.ts";
import type { OpenPipe, Pipe } from "./pipe.ts";

export interface LineTransportOptions {
  open: OpenPipe;
  signal: AbortSignal;
  maxLineBytes: number;
  maxNoiseBytes: number;
  /** What the server says besides messages. */
  onLog(stream: "stdout" | "stderr" | "skep", text: string): void;
}

export interface LineTransport extends Transport {
  /** Why the server ended, in words, if it did so by itself. */
  readonly endReason: string | undefined;
}

/** One call's answer was longer than a line may be. */
const TOO_LONG = -32_001;

export function createLineTransport(options: LineTransportOptions): LineTransport {
  const { onLog } = options;
  let pipe: Pipe | undefined;
  let endReason: string | undefined;
  let closing: Promise<void> | undefined;
  const decoder = new TextDecoder();
  const end = (reason: string): void => {
    if (closing) return;
    endReason = reason;
    void close();
  };
  const close = (): Promise<void> => {
    closing ??= (async () => {
      await pipe?.kill();
      transport.onclose?.();
    })();
    return closing;
  };
  const read = createLineReader({
    ...{ maxLineBytes: options.maxLineBytes, maxNoiseBytes: options.maxNoiseBytes },
    onMessage: (message) => transport.onmessage?.(message as JSONRPCMessage),
    onNoise: (text) => onLog("stdout", text),
    onTooLong(bytes, id) {
      const what = `an answer of ${bytes} bytes, more than the ${options.maxLineBytes} that a message may have`;
      onLog("skep", `The server sent ${what}; it was dropped.`);
      if (id === undefined) return;
      const error = { code: TOO_LONG, message: `The server gave ${what}.` };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    },
    onFlood: (bytes) => end(`it wrote ${bytes} bytes without a message to its standard output`),
  });
  const transport: LineTransport & { stderr: null; pid: null } = {
    // By these two the library knows that silence here means an older revision, not an outage.
    stderr: null,
    pid: null,
    get endReason() {
      return endReason;
    },
    async start() {
      const events = {
        onStdout: (chunk: Uint8Array) => {
          if (!closing) read(chunk);
        },
        onStderr: (chunk: Uint8Array) => onLog("stderr", decoder.decode(chunk, { stream: true })),
      };
      pipe = await options.open(events, options.signal);
      void pipe.ended.then(end);
    },
    async send(message) {
      if (!pipe || closing) throw new Error("The server is not running.");
      await pipe.write(`${JSON.stringify(message)}\n`);
    },
    close,
  };
  return transport;
}
