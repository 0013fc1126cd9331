/**
 * Standard input and output as a stream of protocol messages: one JSON object a line, bounded before it is parsed. What is
 * no message is answered with an error; too much of it ends the connection.
 */
import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { type JsonRpcId, type JsonRpcMessage, jsonRpcMessageIn } from "../../core/json-rpc.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import { createPacedChunks } from "../../core/paced-chunks.ts";

interface EditorStream {
  stream: Stream;
  /** Resolves when the editor has closed its side, with why it was given up where that was for what it wrote. */
  ended: Promise<string | undefined>;
}

type Message = AnyMessage & JsonRpcMessage;

const PARSE_ERROR = -32_700;
const TOO_BUSY = -32_000;

export function createEditorStream(stdin: Readable, stdout: Writable): EditorStream {
  const over = Promise.withResolvers<string | undefined>();
  /** Requests of the editor that are not answered, and ours that it has not answered. */
  const [open, asked] = [new Set<JsonRpcId>(), new Set<JsonRpcId>()];
  let messages: ReadableStreamDefaultController<AnyMessage> | undefined;
  let noise = 0;

  const end = (why?: string): void => {
    over.resolve(why);
    messages?.close();
    messages = undefined;
    stdin.destroy();
  };
  const write = (message: object): Promise<void> =>
    new Promise((done, fail) => {
      stdout.write(`${JSON.stringify(message)}\n`, (error) => (error ? fail(error) : done()));
    });
  const refuse = (id: JsonRpcId, code: number, message: string): void => {
    // An editor that does not read what it is answered is not read either.
    const reading = write({ jsonrpc: "2.0", id, error: { code, message } });
    if (stdout.writableLength > LIMITS.editorUnreadBytes) {
      stdin.pause();
      void reading.then(() => stdin.resume());
    }
    reading.catch(() => end());
  };
  function take(text: string): void {
    const message = jsonRpcMessageIn<Message>(text);
    if (!message) return refuse(null, PARSE_ERROR, "This line is no message of the protocol.");
    noise = 0;
    const { id, method } = message;
    if (method === undefined) {
      // An answer to a question that nobody asked is no answer.
      if (id !== undefined && asked.delete(id)) messages?.enqueue(message);
      return;
    }
    if (id !== undefined) {
      if (open.size >= LIMITS.editorRequests || open.has(id))
        return refuse(id, TOO_BUSY, `No more than ${LIMITS.editorRequests} requests at a time, each with its own id.`);
      open.add(id);
    }
    messages?.enqueue(message);
  }
  const lines = createLineSplitter({
    maxBytes: LIMITS.editorMessageBytes,
    onLine({ text, tail, bytes }) {
      if (!messages || text.trim() === "") return;
      if (tail === undefined) return take(text);
      refuse(null, PARSE_ERROR, `A message of ${bytes} bytes: ${LIMITS.editorMessageBytes} is the most.`);
    },
  });
  const chunks = createPacedChunks({
    read(piece) {
      if (!messages) return;
      noise += piece.byteLength;
      lines.add(piece);
      if (noise > LIMITS.editorNoiseBytes) end(`The editor wrote ${noise} bytes without a message.`);
    },
    pause: () => stdin.pause(),
    resume: () => stdin.resume(),
  });
  const stream: Stream = {
    readable: new ReadableStream<AnyMessage>({
      start(controller) {
        messages = controller;
      },
      cancel() {
        messages = undefined;
        end();
      },
    }),
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        const { id, method }: Partial<Message> = message;
        if (id !== undefined) method === undefined ? open.delete(id) : asked.add(id);
        await write(message).catch((error) => {
          end();
          throw error;
        });
      },
    }),
  };
  stdin.on("data", chunks.add);
  const hangUp = (): void => void chunks.drained().then(() => end());
  stdin.on("end", hangUp).on("error", hangUp).on("close", hangUp);
  // The editor is gone.
  stdout.on("error", () => end());
  return { stream, ended: over.promise };
}
