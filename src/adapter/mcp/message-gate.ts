/**
 * Filters a tool server's messages before the protocol library sees them. Each message is bounded and parsed; answers
 * pass only if their request was sent; the rate of notifications is bounded.
 * A call that gets an unusable answer fails with a sentence that says what is wrong. Other calls and the connection
 * continue.
 */
import { isObject, membersOf } from "../../core/is-object.ts";
import { JsonTooMuch, readJson } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Line } from "../../core/line-splitter.ts";

type RequestId = string | number;

/** What the library gets: a message of the server, or an error made here in its place. */
interface Taken {
  message: object;
  /** The message as JSON. */
  text: string;
}

export type MessageGate = ReturnType<typeof createMessageGate>;

interface MessageGateOptions {
  maxMessageBytes: number;
  /** Receives remarks for the server's log. */
  onLog(text: string): void;
  /** Receives text that is not a message and that no request waits for. */
  onNoise(text: string): void;
}

/** JSON-RPC code of the error for an answer that could not be used. */
const UNUSABLE = -32_001;
/** Most requests whose answers are awaited. */
const MOST_PENDING = 10_000;

export function createMessageGate({ maxMessageBytes, onLog, onNoise }: MessageGateOptions) {
  const pending = new Set<RequestId>();
  const allowance = createAllowance(onLog);

  /**
   * Makes an error for an answer that could not be used; undefined when no request waits for it. @param why completes
   * the sentence "The answer is …", e.g. "longer than 5 bytes".
   */
  function rejectAnswer(why: string, asked: RequestId | undefined): Taken | undefined {
    onLog(`The server sent an answer that is ${why}; it was dropped.`);
    if (asked === undefined || !pending.delete(asked)) return undefined;
    const error = { code: UNUSABLE, message: `The server's answer is ${why}.` };
    const message = { jsonrpc: "2.0", id: asked, error };
    return { message, text: JSON.stringify(message) };
  }
  function dropNoise(text: string, why: string, asked: RequestId | undefined): Taken | undefined {
    if (asked !== undefined) return rejectAnswer(why, asked);
    onNoise(text);
    return undefined;
  }
  return {
    rejectAnswer,
    /** Records a message that is sent to the server. @returns the id, if it is a request. */
    recordSent(message: unknown): RequestId | undefined {
      const { id, method, params } = membersOf(message);
      if (method === "notifications/cancelled") {
        const { requestId } = membersOf(params);
        if (isId(requestId)) pending.delete(requestId);
      }
      if (method === undefined || !isId(id)) return undefined;
      // Requests that were never answered are forgotten, oldest first.
      for (const oldest of pending) {
        if (pending.size < MOST_PENDING) break;
        pending.delete(oldest);
      }
      pending.add(id);
      return id;
    },
    /**
     * Takes a text from the server.
     * @param asked the request that the text is expected to answer.
     * @returns undefined when the library gets nothing.
     */
    take(text: string, asked?: RequestId): Taken | undefined {
      let value: unknown;
      try {
        value = readJson(text);
      } catch (error) {
        if (!(error instanceof JsonTooMuch)) return dropNoise(text, "not JSON", asked);
        return rejectAnswer(error.fault, asked ?? idIn(text.slice(0, END_CHARACTERS), text.slice(-END_CHARACTERS)));
      }
      if (!isObject(value) || value["jsonrpc"] !== "2.0") return dropNoise(text, "no message of the protocol", asked);
      const { id, method } = value;
      if (method !== undefined) return allowance() ? { message: value, text } : undefined;
      if (isId(id) && pending.delete(id)) return { message: value, text };
      if (allowance()) onLog("The server sent an answer to a question that nobody asked; it was dropped.");
      return undefined;
    },
    /** As `take`, for a text that was too long to be read. */
    tooLong({ text, tail = "", bytes }: Line, asked?: RequestId): Taken | undefined {
      const why = `${bytes} bytes long, more than the ${maxMessageBytes} that a message may have`;
      return rejectAnswer(why, asked ?? idIn(text.slice(0, END_CHARACTERS), tail));
    },
  };
}

const isId = (value: unknown): value is RequestId => typeof value === "string" || typeof value === "number";

/** Decides whether one more unasked message passes: some at once, and then some per second. */
function createAllowance(onLog: (text: string) => void): () => boolean {
  let left: number = LIMITS.mcpNoticesAtOnce;
  let [since, dropped] = [performance.now(), 0];
  return () => {
    const now = performance.now();
    left = Math.min(LIMITS.mcpNoticesAtOnce, left + ((now - since) / 1_000) * LIMITS.mcpNoticesPerSecond);
    since = now;
    if (left < 1) {
      if (dropped++ === 0)
        onLog(`The server sends more than ${LIMITS.mcpNoticesPerSecond} messages a second unasked; they are dropped.`);
      return false;
    }
    if (dropped > 0 && left > LIMITS.mcpNoticesAtOnce / 2) {
      onLog(`${dropped} messages of the server were dropped.`);
      dropped = 0;
    }
    left--;
    return true;
  };
}

/** Characters at each end of an unusable text that are searched for the id of the request it answers. */
const END_CHARACTERS = 256;

/** Finds the id of an answer. The id may come before or after the result. */
function idIn(head: string, tail: string): number | undefined {
  const start = head.replaceAll(/[\s"]/g, "");
  const [, first] = /^\{(?:jsonrpc:2\.0,)?id:(\d{1,15})[,}]/.exec(start) ?? [];
  const end = tail.replaceAll(/[\s"]/g, "");
  const [, last] = /,id:(\d{1,15})(?:,jsonrpc:2\.0)?\}$/.exec(end) ?? [];
  const id = first ?? last;
  return id === undefined ? undefined : Number(id);
}
