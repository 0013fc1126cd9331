/**
 * Answers from outside on their way to a library that parses them: bounded and checked piece by piece, and handed on in
 * turns, so that neither a flood nor an endless line reaches the library, or holds up others.
 */
import { jsonFault } from "./json-reader.ts";
import { createLineSplitter, type Line } from "./line-splitter.ts";
import { takeTurns } from "./turns.ts";

interface EventChecks {
  /** Of one event. */
  maxBytes: number;
  /** @returns what is handed on instead, undefined for nothing. What it throws ends the stream. */
  take(data: string, event: string): string | undefined;
  /** An event was longer than that. @returns what is handed on instead. What it throws ends the stream. */
  tooLong(line: Line): string | undefined;
  /** The same as soon as that is seen, of a stream that ends by it. */
  exceeded?(): never;
}

/** A stream of server-sent events, cut into whole events, without comments and empty lines. */
export function checkedEvents(body: ReadableStream<Uint8Array>, checks: EventChecks): ReadableStream<Uint8Array> {
  let [bytes, name] = [0, ""];
  let others: string[] = [];
  let data: string[] = [];
  let long: Line | undefined;
  let out: string[] = [];
  const write = (text: string | undefined) => {
    if (text === undefined) return;
    out.push(...others, ...text.split("\n").map((line) => `data: ${line}`), "", "");
  };
  const endEvent = () => {
    if (bytes === 0) return;
    if (long) write(checks.tooLong(long));
    else if (data.length > 0) write(checks.take(data.join("\n"), name));
    // The time until a reconnection, and where it goes on.
    else if (others.length > 0) out.push(...others, "", "");
    [bytes, name, others, data, long] = [0, "", [], [], undefined];
  };
  const lines = createLineSplitter({
    maxBytes: checks.maxBytes,
    atReturns: true,
    onExcess: checks.exceeded,
    onLine(line) {
      if (line.bytes === 0) return endEvent();
      if (line.text.startsWith(":")) return;
      // A line costs more than its characters.
      bytes += line.bytes + LINE_BYTES;
      if (bytes > checks.maxBytes) {
        long ??= { ...line, bytes };
        data = [];
        return;
      }
      const colon = line.text.indexOf(":");
      const field = colon === -1 ? line.text : line.text.slice(0, colon);
      const value = colon === -1 ? "" : line.text.slice(line.text.charAt(colon + 1) === " " ? colon + 2 : colon + 1);
      if (field === "data") data.push(value);
      else if (FIELDS.has(field)) others.push(`${field}: ${value}`);
      if (field === "event") name = value;
    },
  });
  return throughTurns(body, {
    add: lines.add,
    // An event that nothing ended is none.
    end() {},
    taken() {
      const text = out.join("\n");
      out = [];
      return text === "" ? undefined : new TextEncoder().encode(text);
    },
  });
}

const LINE_BYTES = 16;
const FIELDS = new Set(["event", "id", "retry"]);

interface TextChecks {
  /** Of the whole answer. */
  maxBytes: number;
  /** @returns what is handed on instead. What it throws ends the stream. */
  take(text: string): string;
  /** The answer is longer than that, or broke off. @returns what is handed on instead. */
  unreadable(why: string): string;
}

/** An answer that is one text. */
export function checkedText(body: ReadableStream<Uint8Array>, checks: TextChecks): ReadableStream<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let text: string | undefined;
  return throughTurns(body, {
    add(piece) {
      size += piece.byteLength;
      if (size <= checks.maxBytes) pieces.push(piece);
      else text = checks.unreadable(`longer than ${checks.maxBytes} bytes`);
      return text === undefined;
    },
    end: () => {
      text ??= checks.take(Buffer.concat(pieces).toString("utf8"));
    },
    broken: () => {
      text = checks.unreadable("broken off in the middle");
    },
    taken() {
      if (text === undefined) return undefined;
      const bytes = new TextEncoder().encode(text);
      text = undefined;
      return bytes;
    },
  });
}

interface AnswerBounds {
  /** Of the whole answer; of a stream of events none. */
  maxBytes: number;
  /** Of one event of a stream. */
  eventBytes?: number;
  /** See `core/json-reader.ts`. */
  values?: number;
}

/** An answer whose reader cannot be told what is too much: its body fails there, with words for people. */
export function checkedAnswer(answer: Response, { maxBytes, eventBytes = maxBytes, values }: AnswerBounds): Response {
  if (answer.body === null) return answer;
  const type = answer.headers.get("content-type") ?? "";
  const refuse = (why: string): never => {
    throw new Error(`the answer is ${why}`);
  };
  const tooLong = (): never => refuse(`made of an event longer than ${eventBytes} bytes`);
  const take = (text: string): string => {
    const fault = jsonFault(text, values === undefined ? {} : { values });
    return fault === undefined ? text : refuse(fault);
  };
  const body = /^text\/event-stream/i.test(type)
    ? checkedEvents(answer.body, {
        maxBytes: eventBytes,
        take,
        tooLong: () => tooLong(),
        exceeded: tooLong,
      })
    : checkedText(answer.body, { maxBytes, take: /json/i.test(type) ? take : (text) => text, unreadable: refuse });
  const { status, statusText, headers } = answer;
  return new Response(body, { status, statusText, headers });
}

interface Step {
  /** @returns false when nothing more is wanted. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most steps want all there is.
  add(piece: Uint8Array): boolean | void;
  end(): void;
  /** The stream broke off. Without it, that is an error. */
  broken?(): void;
  /** What is to be handed on by now. */
  taken(): Uint8Array | undefined;
}

const PIECE_BYTES = 64 * 1024;

/** Reads no faster than it is read, and never more than a piece without a pause. */
function throughTurns(body: ReadableStream<Uint8Array>, step: Step): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const turn = takeTurns();
  let rest: Uint8Array = new Uint8Array();
  let isOver = false;
  const next = async (): Promise<void> => {
    if (rest.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done) {
        isOver = true;
        return step.end();
      }
      rest = value;
    }
    const piece = rest.subarray(0, PIECE_BYTES);
    rest = rest.subarray(piece.byteLength);
    if (step.add(piece) === false) {
      isOver = true;
      void reader.cancel().catch(() => {});
    }
    await turn();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          try {
            if (!isOver) await next();
          } catch (error) {
            if (!step.broken || !isCut(error)) {
              void reader.cancel(error).catch(() => {});
              throw error;
            }
            isOver = true;
            step.broken();
          }
          const bytes = step.taken();
          if (bytes) controller.enqueue(bytes);
          if (isOver) return controller.close();
          if (bytes) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Marks an error as the connection's own: it broke off. */
export class Cut extends Error {}
const isCut = (error: unknown): boolean => error instanceof Cut;
