/**
 * Checks answers from outside on their way to a library that parses them. They are limited and checked piece by piece,
 * and passed on in turns. So neither a flood nor an endless line reaches the library or blocks other work.
 */
import { jsonFault } from "./json-reader.ts";
import { createLineSplitter, type Line } from "./line-splitter.ts";
import { takeTurns } from "./turns.ts";

interface EventChecks {
  /** Limit of one event. */
  maxBytes: number;
  /** @returns the data to pass on, undefined for none. An error that it throws ends the stream. */
  take(data: string, event: string): string | undefined;
  /**
   * Called for an event longer than `maxBytes`. @returns the data to pass on instead. An error that it throws ends the
   * stream.
   */
  tooLong(line: Line): string | undefined;
  /** Called as soon as a line becomes too long, to end the stream by throwing. */
  onExcess?(): never;
}

/** Passes on a stream of server-sent events as whole events, without comments and empty lines. */
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
    // An event without data still sets the reconnection time and the last event's id.
    else if (others.length > 0) out.push(...others, "", "");
    [bytes, name, others, data, long] = [0, "", [], [], undefined];
  };
  const lines = createLineSplitter({
    maxBytes: checks.maxBytes,
    atReturns: true,
    onExcess: checks.onExcess,
    onLine(line) {
      if (line.bytes === 0) return endEvent();
      if (line.text.startsWith(":")) return;
      // Each line costs memory beyond its characters.
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
    // An incomplete event at the end is dropped.
    end() {},
    takeOutput() {
      const text = out.join("\n");
      out = [];
      return text === "" ? undefined : new TextEncoder().encode(text);
    },
  });
}

const LINE_BYTES = 16;
const FIELDS = new Set(["event", "id", "retry"]);

interface TextChecks {
  /** Limit of the whole answer. */
  maxBytes: number;
  /** @returns the text to pass on. An error that it throws ends the stream. */
  take(text: string): string;
  /** Called for an answer that is too long or broke off. @returns the text to pass on instead. */
  unreadable(why: string): string;
}

/** Checks an answer that is a single text. */
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
    onCut: () => {
      text = checks.unreadable("broken off in the middle");
    },
    takeOutput() {
      if (text === undefined) return undefined;
      const bytes = new TextEncoder().encode(text);
      text = undefined;
      return bytes;
    },
  });
}

interface AnswerBounds {
  /** Limit of the whole answer; not applied to a stream of events. */
  maxBytes: number;
  /** Limit of one event of a stream. */
  eventBytes?: number;
  /** The most JSON values; see `core/json-reader.ts`. */
  values?: number;
}

/**
 * Limits an answer whose reader cannot limit it itself. An answer that is too large fails with a message for people.
 */
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
        onExcess: tooLong,
      })
    : checkedText(answer.body, { maxBytes, take: /json/i.test(type) ? take : (text) => text, unreadable: refuse });
  const { status, statusText, headers } = answer;
  return new Response(body, { status, statusText, headers });
}

interface Step {
  /** @returns false when no further input is wanted. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most steps want all there is.
  add(piece: Uint8Array): boolean | void;
  end(): void;
  /** Called when the stream breaks off. Without this handler, that is an error. */
  onCut?(): void;
  /** The output that is ready to be passed on. */
  takeOutput(): Uint8Array | undefined;
}

const PIECE_BYTES = 64 * 1024;

/** Reads only as fast as its reader, and pauses after each piece so that other work gets a turn. */
function throughTurns(body: ReadableStream<Uint8Array>, step: Step): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const turn = takeTurns();
  let rest: Uint8Array = new Uint8Array();
  let isOver = false;
  const passNext = async (): Promise<void> => {
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
            if (!isOver) await passNext();
          } catch (error) {
            if (!step.onCut || !isCut(error)) {
              void reader.cancel(error).catch(() => {});
              throw error;
            }
            isOver = true;
            step.onCut();
          }
          const bytes = step.takeOutput();
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
