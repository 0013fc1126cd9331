/**
 * A transport for the protocol library over a server's standard streams. The library's own transport starts each server
 * twice to find out which revision it speaks, waits for silent servers, and gives up at a long line.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createBoundedNoise, createPacedChunks } from "../../core/paced-chunks.ts";
import type { OpenPipe, Pipe } from "../../core/pipe.ts";
import { createLineReader } from "./line-reader.ts";
import { createMessageGate } from "./message-gate.ts";

interface LineTransportOptions {
  open: OpenPipe;
  signal: AbortSignal;
  maxLineBytes: number;
  maxNoiseBytes: number;
  /** Receives the server's output other than messages, and remarks about it. */
  onLog(stream: "stdout" | "stderr" | "skep", text: string): void;
}

interface LineTransport extends Transport {
  /** Why the server ended by itself, in words; undefined otherwise. */
  readonly endReason: string | undefined;
}

const NOISE_CHARACTERS = 2_000;

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
  const gate = createMessageGate({
    maxMessageBytes: options.maxLineBytes,
    onLog: (text) => onLog("skep", text),
    onNoise: (text) => onLog("stdout", text.slice(0, NOISE_CHARACTERS)),
  });
  const read = createLineReader({
    maxLineBytes: options.maxLineBytes,
    maxNoiseBytes: options.maxNoiseBytes,
    gate,
    onMessage: (message) => transport.onmessage?.(message as JSONRPCMessage),
    onFlood: (bytes) => end(`it wrote ${bytes} bytes without a message to its standard output`),
  });
  const chunks = createPacedChunks({
    read(piece) {
      if (!closing) read(piece);
    },
    pause: () => pipe?.pause(),
    resume: () => pipe?.resume(),
  });
  const noise = createBoundedNoise({
    read: (piece) => onLog("stderr", decoder.decode(piece, { stream: true })),
    leftOut: (bytes) =>
      onLog("skep", `${bytes} bytes of its standard error were left out: it wrote faster than it is read.`),
  });
  const transport: LineTransport & { stderr: null; pid: null } = {
    // These two members tell the library that the peer is a process. Silence then means an older revision, not an
    // outage.
    stderr: null,
    pid: null,
    get endReason() {
      return endReason;
    },
    async start() {
      const events = {
        onStdout: chunks.add,
        onStderr: noise.add,
      };
      pipe = await options.open(events, options.signal);
      // What the server wrote last is still read after it has ended.
      void pipe.ended.then(async (reason) => {
        await Promise.all([chunks.waitForDrain(), noise.waitForDrain()]);
        end(reason);
      });
    },
    async send(message) {
      if (!pipe || closing) throw new Error("The server is not running.");
      gate.recordSent(message);
      await pipe.write(`${JSON.stringify(message)}\n`);
    },
    close,
  };
  return transport;
}
