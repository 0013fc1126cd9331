/**
 * `fetch` for tool servers and what they point to. Each host is resolved once, judged, and the connection goes to that
 * very address; redirects are handed back, never followed here; answers are bounded however they come.
 */
import { Problem } from "../../core/errors.ts";
import type { ResolvedAddress } from "../address-guard.ts";

export interface HttpFetchOptions {
  /** @throws Problem when the address may not be reached; else where it is. */
  resolve(url: URL): Promise<ResolvedAddress>;
  userAgent: string;
  /** Of an answer, or of one event of a stream. */
  maxBytes: number;
  /** Until the head of the answer is there. */
  timeoutMs: number;
}

export type HttpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Statuses whose answers have no body. */
const BODILESS = new Set([101, 204, 205, 304]);

export function createHttpFetch(options: HttpFetchOptions): HttpFetch {
  return async (given, init = {}) => {
    const url = new URL(given);
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new Problem(422, "bad_address", "Only http and https addresses can be reached.");
    if (url.username || url.password) throw new Problem(422, "bad_address", "An address must not carry credentials.");
    const pinned = await options.resolve(url);
    init.signal?.throwIfAborted();
    return send(url, pinned, init, options);
  };
}

async function send(
  url: URL,
  pinned: ResolvedAddress,
  init: RequestInit,
  options: HttpFetchOptions,
): Promise<Response> {
  // The runtime takes 30 ms to load these.
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
      const isStream = /^text\/event-stream/i.test(given.get("content-type") ?? "");
      const content = bounded(answer, {
        maxBytes: options.maxBytes,
        isStream,
        onEnd: settle,
        stop: () => request.destroy(),
      });
      done(new Response(BODILESS.has(status) ? null : content, { status, headers: given }));
      if (BODILESS.has(status)) answer.resume();
    });
    request.end(body);
  });
}

interface Bounds {
  maxBytes: number;
  isStream: boolean;
  onEnd(): void;
  stop(): void;
}

interface Incoming extends NodeJS.EventEmitter {
  pause(): unknown;
  resume(): unknown;
}

/** The body as it comes, no faster than it is read; an error when it, or one event of it, is too long. */
function bounded(answer: Incoming, { maxBytes, isStream, onEnd, stop }: Bounds): ReadableStream<Uint8Array> {
  let since = 0;
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
          const boundary = isStream
            ? Buffer.from(chunk)
                .toString("latin1")
                .search(/\r?\n\r?\n(?![\s\S]*\r?\n\r?\n)/)
            : -1;
          since = boundary === -1 ? since + chunk.length : chunk.length - boundary;
          if (since > maxBytes) {
            end(new Error(`the server's answer is longer than ${maxBytes} bytes`));
            return stop();
          }
          controller.enqueue(new Uint8Array(chunk));
          if ((controller.desiredSize ?? 1) <= 0) answer.pause();
        });
        answer.on("end", () => end());
        answer.on("close", () => end());
        answer.on("error", (error: Error) => end(error));
        answer.on("aborted", () => end(new Error("the connection was cut")));
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
