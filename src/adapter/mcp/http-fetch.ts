/**
 * A `fetch` for tool servers and the addresses that they name. Each host is resolved and checked once, and the
 * connection goes to exactly that address. Redirects are returned to the caller, not followed. All answers are bounded.
 */

import type { IncomingMessage } from "node:http";
import { Cut, checkedEvents, checkedText } from "../../core/checked-stream.ts";
import { Problem } from "../../core/errors.ts";
import { jsonFault } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { ResolvedAddress } from "../address-guard.ts";
import { createMessageGate, type MessageGate } from "./message-gate.ts";

interface HttpFetchOptions {
  /** Resolves and checks the host. @throws Problem when the address may not be reached. */
  resolve(url: URL): Promise<ResolvedAddress>;
  userAgent: string;
  /** Most bytes of an answer, or of one event of a stream. */
  maxBytes: number;
  /** Time limit until the head of the answer arrives. */
  timeoutMs: number;
  /** Receives, for the server's log, what is wrong with its messages. */
  onLog(text: string): void;
}

export type HttpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Statuses whose answers have no body. */
const BODILESS = new Set([101, 204, 205, 304]);

/** Makes a `fetch` for one connection; it remembers the requests that await answers. */
export function createHttpFetch(options: HttpFetchOptions): HttpFetch {
  const gate = createMessageGate({
    maxMessageBytes: options.maxBytes,
    onLog: options.onLog,
    onNoise: (text) => options.onLog(`The server sent what is no message: ${text.slice(0, NOISE_CHARACTERS)}`),
  });
  return async (given, init = {}) => {
    const url = new URL(given);
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new Problem(422, "bad_address", "Only http and https addresses can be reached.");
    if (url.username || url.password) throw new Problem(422, "bad_address", "An address must not carry credentials.");
    const pinned = await options.resolve(url);
    init.signal?.throwIfAborted();
    return send(url, pinned, init, { ...options, gate });
  };
}

const NOISE_CHARACTERS = 200;

async function send(
  url: URL,
  pinned: ResolvedAddress,
  init: RequestInit,
  options: HttpFetchOptions & { gate: MessageGate },
): Promise<Response> {
  // These are imported here because loading them takes 30 ms.
  const library = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  const body = init.body === undefined || init.body === null ? undefined : Buffer.from(String(init.body));
  const headers = new Headers(init.headers);
  headers.set("User-Agent", options.userAgent);
  headers.set("Accept-Encoding", "identity");
  if (body) {
    headers.set("Content-Length", String(body.length));
    if (init.body instanceof URLSearchParams && !headers.has("Content-Type"))
      headers.set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8");
  }
  return new Promise<Response>((done, fail) => {
    const request = library.request(url, {
      method: init.method ?? "GET",
      agent: false,
      headers: Object.fromEntries(headers),
      lookup: (_host, wanted, callback) => {
        if (wanted.all) callback(null, [pinned]);
        else callback(null, pinned.address, pinned.family);
      },
    });
    const late = setTimeout(
      () => request.destroy(new Error(`no answer within ${options.timeoutMs / 1_000} s`)),
      options.timeoutMs,
    );
    const abort = () =>
      request.destroy(init.signal?.reason instanceof Error ? init.signal.reason : new Error("aborted"));
    init.signal?.addEventListener("abort", abort, { once: true });
    const settle = () => {
      clearTimeout(late);
      init.signal?.removeEventListener("abort", abort);
    };
    request.on("error", (error) => {
      settle();
      fail(error);
    });
    request.on("response", (answer) => {
      clearTimeout(late);
      const status = answer.statusCode ?? 0;
      const given = new Headers();
      for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2)
        given.append(answer.rawHeaders[i] ?? "", answer.rawHeaders[i + 1] ?? "");
      const content = checkMessages(
        bodyOf(answer, {
          isAborted: () => init.signal?.aborted === true,
          onEnd: settle,
          stop: () => request.destroy(),
        }),
        given.get("content-type") ?? "",
        options,
        requestIn(init.body, options.gate),
      );
      done(new Response(BODILESS.has(status) ? null : content, { status, headers: given }));
      if (BODILESS.has(status)) answer.resume();
    });
    request.end(body);
  });
}

/** Id of the JSON-RPC request in the body, if there is one. */
function requestIn(body: RequestInit["body"], gate: MessageGate): string | number | undefined {
  return typeof body === "string" && body.startsWith("{") ? gate.recordSent(ownJson<unknown>(body)) : undefined;
}

/** Passes each message of the body through the gate. */
function checkMessages(
  body: ReadableStream<Uint8Array>,
  type: string,
  { maxBytes, gate }: HttpFetchOptions & { gate: MessageGate },
  asked: string | number | undefined,
): ReadableStream<Uint8Array> {
  if (!/^text\/event-stream/i.test(type))
    return checkedText(body, {
      maxBytes,
      take: (text) => {
        if (asked !== undefined && /^application\/json/i.test(type))
          return (gate.take(text, asked) ?? gate.rejectAnswer("one to another question", asked))?.text ?? "null";
        const fault = jsonFault(text);
        if (fault !== undefined) throw new Error(`the server's answer is ${fault}`);
        return text;
      },
      unreadable(why) {
        const error = asked === undefined ? undefined : gate.rejectAnswer(why, asked);
        if (!error) throw new Error(`the server's answer is ${why}`);
        return error.text;
      },
    });
  let unheard = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        unheard += chunk.byteLength;
        if (unheard > LIMITS.mcpNoiseBytes) throw new Error(`the server sent ${unheard} bytes without a message`);
        controller.enqueue(chunk);
      },
    }),
  );
  const noteHeard = (text: string | undefined) => {
    if (text !== undefined) unheard = 0;
    return text;
  };
  return checkedEvents(counted, {
    maxBytes,
    // Events of other names belong to the older transport: they tell the address that its messages go to.
    take: (data, event) => noteHeard(event === "" || event === "message" ? gate.take(data, asked)?.text : data),
    tooLong: (line) => noteHeard(gate.tooLong(line, asked)?.text),
  });
}

interface Ends {
  isAborted(): boolean;
  onEnd(): void;
  stop(): void;
}

/** The body as a stream, read no faster than its consumer reads it. */
function bodyOf(answer: IncomingMessage, { isAborted, onEnd, stop }: Ends): ReadableStream<Uint8Array> {
  let over = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (error?: Error) => {
          if (over) return;
          over = true;
          onEnd();
          if (error) controller.error(error);
          else controller.close();
        };
        answer.on("data", (chunk: Uint8Array) => {
          if (over) return;
          controller.enqueue(new Uint8Array(chunk));
          if ((controller.desiredSize ?? 1) <= 0) answer.pause();
        });
        answer.on("end", () => end());
        answer.on("close", () => end());
        answer.on("error", (error: Error) => end(isAborted() ? error : new Cut(error.message)));
        answer.on("aborted", () => end(new Cut("the connection was cut")));
      },
      pull: () => void answer.resume(),
      cancel() {
        over = true;
        onEnd();
        stop();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 256 * 1024 }),
  );
}
