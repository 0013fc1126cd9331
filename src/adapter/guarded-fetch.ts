/**
 * Requests to an address that somebody else named. Each hop's host is resolved once by the guard and the connection goes to
 * that very address; redirects are followed by hand, so each is checked again. Bounded in time, bytes and hops.
 */
import type { IncomingMessage } from "node:http";
import { badRequest, messageOf, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import { raceSignal } from "../core/race-signal.ts";

interface FetchedPage {
  /** Where it came from in the end, after redirects. */
  url: string;
  status: number;
  /** As the server sent it, lower case; empty when it said nothing. */
  contentType: string;
  body: Uint8Array;
  /** True when the body was longer than the limit and is cut. */
  truncated: boolean;
}

interface GuardedFetchOptions {
  /** @throws Problem when the host may not be reached; else the addresses that may. */
  resolve(host: string): Promise<{ address: string; family: 4 | 6 }[]>;
  userAgent: string;
  maxBytes?: number;
  timeoutMs?: number;
  maxRedirects?: number;
}

/** @throws Problem 400 bad address, 422 refused, 504 too slow, 502 no answer, too many redirects. */
type GuardedFetch = (url: string, signal: AbortSignal) => Promise<FetchedPage>;

interface Hop {
  page: FetchedPage;
  location: string | undefined;
}

export function createGuardedFetch({
  resolve,
  userAgent,
  maxBytes = LIMITS.fetchBytes,
  timeoutMs = LIMITS.fetchTimeoutMs,
  maxRedirects = LIMITS.fetchRedirects,
}: GuardedFetchOptions): GuardedFetch {
  return async (start, outer) => {
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    let url = webAddress(start);
    try {
      for (let hops = 0; hops <= maxRedirects; hops++) {
        const addresses = await raceSignal(resolve(url.hostname), signal);
        const { page, location } = await get(url, addresses[0]!, { userAgent, maxBytes, signal });
        if (location === undefined) return page;
        url = webAddress(location, url);
      }
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (timer.aborted) throw new Problem(504, "fetch_timeout", `No answer within ${timeoutMs / 1_000} s.`);
      if (outer.aborted) throw error;
      throw new Problem(502, "fetch_failed", `The server could not be reached (${messageOf(error).slice(0, 200)}).`);
    }
    throw new Problem(502, "too_many_redirects", `The address redirects more than ${maxRedirects} times.`);
  };
}

interface GuardedPostOptions {
  /** @throws Problem when the host may not be reached; else the addresses that may. */
  resolve(host: string): Promise<{ address: string; family: 4 | 6 }[]>;
  userAgent: string;
  timeoutMs?: number;
}

type GuardedPost = (
  url: string,
  request: { headers: Record<string, string>; body: string | Uint8Array },
  signal: AbortSignal,
) => Promise<number>;

const POST_TIMEOUT_MS = 15_000;

/**
 * POST of JSON to such an address. Redirects are not followed and the answer's body is not read.
 * @returns the answer's status. @throws Problem 400 bad address, 422 refused, 504 too slow, 502 no answer.
 */
export function createGuardedPost({
  resolve,
  userAgent,
  timeoutMs = POST_TIMEOUT_MS,
}: GuardedPostOptions): GuardedPost {
  return async (address, { headers, body }, outer) => {
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    try {
      const url = webAddress(address);
      const [pinned] = await raceSignal(resolve(url.hostname), signal);
      const client = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
      return await new Promise<number>((done, fail) => {
        const request = client.request(url, {
          method: "POST",
          agent: false,
          signal,
          headers: {
            "User-Agent": userAgent,
            "Content-Type": "application/json",
            "Content-Length": Buffer.byteLength(body),
            ...headers,
          },
          lookup: (_host, options, callback) => {
            if (options.all) callback(null, [pinned!]);
            else callback(null, pinned!.address, pinned!.family);
          },
        });
        request.on("error", fail);
        request.on("response", (response) => {
          done(response.statusCode ?? 0);
          response.on("error", () => {});
          response.destroy();
        });
        request.end(body);
      });
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (timer.aborted) throw new Problem(504, "receiver_timeout", `No answer within ${timeoutMs / 1_000} s.`);
      if (outer.aborted) throw error;
      const why = messageOf(error).slice(0, 200);
      throw new Problem(502, "receiver_unreachable", `The receiver could not be reached (${why}).`);
    }
  };
}

interface GuardedRequest {
  /** @throws Problem when the host may not be reached; else the addresses that may. */
  resolve(host: string): Promise<{ address: string; family: 4 | 6 }[]>;
  method: "GET" | "POST" | "PUT" | "PATCH";
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** The connection is cut when nothing came for so long. */
  silenceMs: number;
  signal: AbortSignal;
}

/**
 * An answer to be read piece by piece, whatever its status; redirects are not followed. The reader destroys it.
 * @throws Problem 400 bad address, 422 refused, and what the connection fails with.
 */
export async function openGuarded(address: string, request: GuardedRequest): Promise<IncomingMessage> {
  const { method, headers, body, silenceMs, signal } = request;
  const url = webAddress(address);
  const [pinned] = await raceSignal(request.resolve(url.hostname), signal);
  const client = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  return new Promise<IncomingMessage>((done, fail) => {
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const sent = client.request(url, {
      method,
      agent: false,
      signal,
      headers: { "User-Agent": "Skep", "Accept-Encoding": "identity", ...headers, ...length },
      lookup: (_host, options, callback) => {
        if (options.all) callback(null, [pinned!]);
        else callback(null, pinned!.address, pinned!.family);
      },
    });
    sent.setTimeout(silenceMs, () => sent.destroy(new Error("the server was silent")));
    sent.on("error", fail);
    sent.on("response", done);
    sent.end(body);
  });
}

interface BriefRequest {
  /** @throws Problem when the host may not be reached; else the addresses that may. */
  resolve(host: string): Promise<{ address: string; family: 4 | 6 }[]>;
  method: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** For the whole request. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * A request of which only the head of the answer counts; its body is not read, and redirects are not followed.
 * @returns the status, and the header `Retry-After` as it was sent. @throws Problem 400 bad address, 422 refused, 504 too
 * slow, 502 no answer; none names the path of the address, which may let somebody in.
 */
export async function askBriefly(
  address: string,
  { timeoutMs, signal: outer, headers = {}, ...request }: BriefRequest,
): Promise<{ status: number; retryAfter: string | undefined }> {
  const timer = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([outer, timer]);
  try {
    const answer = await openGuarded(address, { ...request, headers, signal, silenceMs: timeoutMs });
    answer.on("error", () => {});
    answer.destroy();
    return { status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"] };
  } catch (error) {
    if (error instanceof Problem || outer.aborted) throw error;
    if (timer.aborted) throw new Problem(504, "receiver_timeout", `No answer within ${timeoutMs / 1_000} s.`);
    const why = messageOf(error).slice(0, 200);
    throw new Problem(502, "receiver_unreachable", `The receiver could not be reached (${why}).`);
  }
}

/** @throws Problem 400 when it is not a plain http or https address. */
function webAddress(text: string, base?: URL): URL {
  const from = base?.href;
  if (!URL.canParse(text, from)) throw badRequest("This is not a usable address.", "bad_address");
  const url = new URL(text, from);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw badRequest("Only http and https addresses can be fetched.", "bad_address");
  if (url.username || url.password) throw badRequest("An address must not carry credentials.", "bad_address");
  return url;
}

async function get(
  url: URL,
  pinned: { address: string; family: 4 | 6 },
  { userAgent, maxBytes, signal }: { userAgent: string; maxBytes: number; signal: AbortSignal },
): Promise<Hop> {
  // The runtime takes 30 ms to load these.
  const client = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  return new Promise<Hop>((done, fail) => {
    const request = client.request(url, {
      method: "GET",
      agent: false,
      signal,
      headers: {
        "User-Agent": userAgent,
        Accept: "text/html,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1",
        "Accept-Encoding": "identity",
      },
      lookup: (_host, options, callback) => {
        if (options.all) callback(null, [pinned]);
        else callback(null, pinned.address, pinned.family);
      },
    });
    request.on("error", fail);
    request.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const location = status >= 300 && status < 400 ? response.headers.location : undefined;
      const contentType = (response.headers["content-type"] ?? "").toLowerCase();
      const chunks: Uint8Array[] = [];
      let size = 0;
      let truncated = false;
      const finish = () => {
        const body = new Uint8Array(Buffer.concat(chunks));
        done({ page: { url: url.href, status, contentType, body, truncated }, location });
      };
      response.on("data", (chunk: Uint8Array) => {
        if (truncated) return;
        const room = maxBytes - size;
        chunks.push(chunk.subarray(0, room));
        size += Math.min(chunk.byteLength, room);
        if (chunk.byteLength <= room) return;
        truncated = true;
        finish();
        request.destroy();
      });
      response.on("end", finish);
      response.on("error", fail);
      response.on("aborted", () => fail(new Error("the connection was cut")));
    });
    request.end();
  });
}
