/**
 * Turns the standard streams of an external agent's program into a stream of messages: one JSON object per line, each
 * bounded before it is parsed.
 * Output that is not a message counts as noise. Too much noise, or too much output in all, ends the program.
 */
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { membersOf } from "../../core/is-object.ts";
import { isJsonRpcId, type JsonRpcId, type JsonRpcMessage, jsonRpcMessageIn } from "../../core/json-rpc.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import { createBoundedNoise, createPacedChunks } from "../../core/paced-chunks.ts";
import type { OpenPipe, Pipe } from "../../core/pipe.ts";

interface AcpStreamOptions {
  open: OpenPipe;
  signal: AbortSignal;
  onLog(text: string): void;
  /** Called when the program is ended because it wrote too much. */
  onFlood(why: string): void;
}

/** The methods that the library has handlers for. It would print any other message to this process's streams. */
const METHODS: ReadonlySet<unknown> = new Set(["session/update", "session/request_permission"]);
const UNANSWERABLE = { code: -32_601, message: "This client does not do that." };
const UNREADABLE = { code: -32_001, message: "The answer was too long, or no JSON." };

/** Starts the program. @throws Problem when it cannot be started. */
export async function createAcpStream({ open, signal, onLog, onFlood }: AcpStreamOptions) {
  const over = Promise.withResolvers<string>();
  const pending = new Set<JsonRpcId>();
  let messages: ReadableStreamDefaultController<AnyMessage> | undefined;
  let pipe: Pipe | undefined;
  let closing: Promise<void> | undefined;
  let [bytes, noise] = [0, 0];

  const close = (): Promise<void> => {
    closing ??= (async () => {
      messages?.close();
      messages = undefined;
      await pipe?.kill();
    })();
    return closing;
  };
  const end = (why: string): void => {
    over.resolve(why);
    void close();
  };
  const flood = (why: string): void => {
    onFlood(why);
    end(why);
  };
  const write = async (message: object): Promise<void> => {
    if (!closing) await pipe?.write(`${JSON.stringify(message)}\n`);
  };
  function take(text: string): void {
    const message = jsonRpcMessageIn<Message>(text);
    if (!message) return onLog(text.slice(0, LOG_CHARACTERS));
    noise = 0;
    const { id, method } = message;
    if (method === undefined) {
      // An answer to a request that was not made is dropped.
      if (id !== undefined && pending.delete(id)) messages?.enqueue(message);
    } else if (METHODS.has(method)) messages?.enqueue(message);
    else if (id !== undefined && id !== null) void write({ jsonrpc: "2.0", id, error: UNANSWERABLE });
  }
  const lines = createLineSplitter({
    maxBytes: LIMITS.harnessMessageBytes,
    onLine(line) {
      if (closing || line.text.trim() === "") return;
      if (line.tail === undefined) return take(line.text);
      onLog(`A message of ${line.bytes} bytes was left out: more than ${LIMITS.harnessMessageBytes}.`);
      // The message left out may be the answer to the only pending request, which would then wait forever: it fails
      // instead.
      const [id] = pending.size === 1 ? pending : [];
      if (id === undefined || !line.text.slice(0, HEAD_CHARACTERS).includes('"result"')) return;
      pending.delete(id);
      messages?.enqueue({ jsonrpc: "2.0", id, error: UNREADABLE });
    },
  });
  const chunks = createPacedChunks({
    read(piece) {
      if (closing) return;
      bytes += piece.byteLength;
      noise += piece.byteLength;
      lines.add(piece);
      if (noise > LIMITS.harnessNoiseBytes) flood(`it wrote ${noise} bytes without a message`);
      else if (bytes > LIMITS.harnessTurnBytes)
        flood(`it wrote more than ${LIMITS.harnessTurnBytes} bytes in one turn`);
    },
    pause: () => pipe?.pause(),
    resume: () => pipe?.resume(),
  });
  const decoder = new TextDecoder();
  const errors = createBoundedNoise({
    read: (piece) => onLog(decoder.decode(piece, { stream: true })),
    leftOut: (left) => onLog(`${left} bytes of its standard error were left out.`),
  });
  pipe = await open({ onStdout: chunks.add, onStderr: errors.add }, signal);
  // What the program wrote last is still read after it has ended.
  void pipe.ended.then(async (why) => {
    await Promise.all([chunks.waitForDrain(), errors.waitForDrain()]);
    end(why);
  });
  return {
    /** Resolves when the program has ended or was given up, with the reason in words. */
    ended: over.promise,
    close,
    stream: {
      readable: new ReadableStream<AnyMessage>({
        start(controller) {
          messages = controller;
        },
        cancel() {
          messages = undefined;
          void close();
        },
      }),
      writable: new WritableStream<AnyMessage>({
        async write(message) {
          const { id, method } = membersOf(message);
          if (method === "session/prompt") bytes = 0;
          if (method !== undefined && isJsonRpcId(id)) pending.add(id);
          await write(message);
        },
      }),
    } satisfies Stream,
  };
}

const LOG_CHARACTERS = 2_000;
const HEAD_CHARACTERS = 256;

/** A message, as far as the library checks it. The fields in it are read one by one. */
type Message = AnyMessage & JsonRpcMessage;
