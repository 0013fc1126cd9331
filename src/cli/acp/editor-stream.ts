/**
 * Standard input and output as a stream of protocol messages: one JSON object per line, with its size checked before it
 * is parsed. A line that is not a message is answered with an error; too many bytes without a message end the
 * connection.
 */
import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { type JsonRpcId, type JsonRpcMessage, jsonRpcMessageIn } from "../../core/json-rpc.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import { createPacedChunks } from "../../core/paced-chunks.ts";

interface EditorStream {
  stream: Stream;
  /**
   * Resolves when the connection has ended: with the reason if we gave up because of what the editor wrote, else
   * undefined.
   */
  ended: Promise<string | undefined>;
}

type Message = AnyMessage & JsonRpcMessage;

const PARSE_ERROR = -32_700;
const TOO_BUSY = -32_000;

export function createEditorStream(stdin: Readable, stdout: Writable): EditorStream {
  const over = Promise.withResolvers<string | undefined>();
  /**
   * Ids of the editor's requests that we have not answered (`open`), and of ours that the editor has not answered
   * (`asked`).
   */
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
    // While the editor does not read its answers, stop reading what it writes.
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
      // Ignore an answer to a question that we did not ask.
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
  const hangUp = (): void => void chunks.waitForDrain().then(() => end());
  stdin.on("end", hangUp).on("error", hangUp).on("close", hangUp);
  // The editor has closed its end.
  stdout.on("error", () => end());
  return { stream, ended: over.promise };
}
