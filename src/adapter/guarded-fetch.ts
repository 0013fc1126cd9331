/**
 * Requests to an address that somebody else named. The guard resolves each hop's host once, and the connection goes to
 * exactly that address. Redirects are followed here, so that each is checked again. Time, bytes and hops are bounded.
 */
import type { IncomingMessage } from "node:http";
import { badRequest, messageOf, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import { raceSignal } from "../core/race-signal.ts";
import { readBeginning } from "../core/read-bounded.ts";
import type { AddressGuard } from "./address-guard.ts";

interface FetchedPage {
  /** Final address, after redirects. */
  url: string;
  status: number;
  /** As the server sent it, in lower case; empty when the server sent none. */
  contentType: string;
  body: Uint8Array;
  /** True when the body was longer than the limit and is cut. */
  truncated: boolean;
}

type Resolve = AddressGuard["resolve"];

interface GuardedFetchOptions {
  resolve: Resolve;
  userAgent: string;
  maxBytes?: number;
  timeoutMs?: number;
}

export function createGuardedFetch({
  resolve,
  userAgent,
  maxBytes = LIMITS.fetchBytes,
  timeoutMs = LIMITS.fetchTimeoutMs,
}: GuardedFetchOptions) {
  const headers = { "User-Agent": userAgent, Accept: "text/html,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1" };
  /**
   * Fetches a page. @throws Problem 400 bad address, 422 refused, 504 too slow, 502 no answer or too many redirects.
   */
  return async (start: string, outer: AbortSignal): Promise<FetchedPage> => {
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    let url = webAddress(start);
    try {
      for (let hops = 0; hops <= LIMITS.fetchRedirects; hops++) {
        const answer = await openGuarded(url.href, { resolve, method: "GET", headers, signal });
        const { bytes, isWhole } = await readBeginning(answer, maxBytes);
        const status = answer.statusCode ?? 0;
        const location = status >= 300 && status < 400 ? answer.headers.location : undefined;
        const contentType = (answer.headers["content-type"] ?? "").toLowerCase();
        if (location === undefined)
          return { url: url.href, status, contentType, body: new Uint8Array(bytes), truncated: !isWhole };
        url = webAddress(location, url);
      }
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (timer.aborted) throw new Problem(504, "fetch_timeout", `No answer within ${timeoutMs / 1_000} s.`);
      if (outer.aborted) throw error;
      throw new Problem(502, "fetch_failed", `The server could not be reached (${messageOf(error).slice(0, 200)}).`);
    }
    throw new Problem(502, "too_many_redirects", `The address redirects more than ${LIMITS.fetchRedirects} times.`);
  };
}

const POST_TIMEOUT_MS = 15_000;

/**
 * Makes a function that sends JSON by POST to an untrusted address. Redirects are not followed and the answer's body is
 * not read.
 * @returns the answer's status. @throws Problem as `askBriefly`.
 */
export function createGuardedPost({ resolve, userAgent }: { resolve: Resolve; userAgent: string }) {
  const own = { "User-Agent": userAgent, "Content-Type": "application/json" };
  return async (
    address: string,
    { headers, body }: { headers: Record<string, string>; body: string | Uint8Array },
    signal: AbortSignal,
  ): Promise<number> => {
    const request = { method: "POST", headers: { ...own, ...headers }, body, timeoutMs: POST_TIMEOUT_MS } as const;
    return (await askBriefly(address, { ...request, resolve, signal })).status;
  };
}

interface GuardedRequest {
  resolve: Resolve;
  method: "GET" | "POST" | "PUT" | "PATCH";
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** The connection is closed when nothing arrives for this long. */
  silenceMs?: number;
  signal: AbortSignal;
}

/** `openGuarded` with the guard already given. */
export type OpenGuarded = (address: string, request: Omit<GuardedRequest, "resolve">) => Promise<IncomingMessage>;

/**
 * Sends a request and returns the answer to be read piece by piece, whatever its status. Redirects are not followed.
 * The reader must destroy the answer.
 * @throws Problem 400 bad address, 422 refused, and the error that the connection fails with.
 */
export async function openGuarded(address: string, request: GuardedRequest): Promise<IncomingMessage> {
  const { method, headers, body, silenceMs, signal } = request;
  const url = webAddress(address);
  const [pinned] = await raceSignal(request.resolve(url.hostname), signal);
  // These are imported here because loading them takes 30 ms.
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
    if (silenceMs !== undefined) sent.setTimeout(silenceMs, () => sent.destroy(new Error("the server was silent")));
    sent.on("error", fail);
    sent.on("response", done);
    sent.end(body);
  });
}

interface BriefRequest extends Pick<GuardedRequest, "resolve" | "body" | "signal"> {
  method: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  /** Time limit of the whole request. */
  timeoutMs: number;
}

/**
 * Sends a request and reads only the head of the answer, not its body. Redirects are not followed.
 * @returns the status, and the header `Retry-After` as it was sent. @throws Problem 400 bad address, 422 refused, 504
 * too slow, 502 no answer. No problem contains the path of the address, which may grant access.
 */
export async function askBriefly(
  address: string,
  { timeoutMs, signal: outer, headers = {}, ...request }: BriefRequest,
): Promise<{ status: number; retryAfter: string | undefined }> {
  const timer = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([outer, timer]);
  try {
    const answer = await openGuarded(address, { ...request, headers, signal });
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

/** @throws Problem 400 unless it is an http or https address without credentials. */
function webAddress(text: string, base?: URL): URL {
  const from = base?.href;
  if (!URL.canParse(text, from)) throw badRequest("This is not a usable address.", "bad_address");
  const url = new URL(text, from);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw badRequest("Only http and https addresses can be fetched.", "bad_address");
  if (url.username || url.password) throw badRequest("An address must not carry credentials.", "bad_address");
  return url;
}
