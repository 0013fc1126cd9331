/**
 * POST of JSON to an address that somebody else named. The host is resolved once by the guard and the connection goes to
 * that very address. Redirects are not followed, the answer's body is not read, and it is bounded in time.
 */
import { messageOf, Problem } from "../core/errors.ts";
import { abortable, webAddress } from "./guarded-fetch.ts";

export interface GuardedPostOptions {
  /** @throws Problem when the host may not be reached; else the addresses that may. */
  resolve(host: string): Promise<{ address: string; family: 4 | 6 }[]>;
  userAgent: string;
  timeoutMs?: number;
}

export type GuardedPost = (
  url: string,
  request: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<number>;

const TIMEOUT_MS = 15_000;

/** @returns the answer's status. @throws Problem 400 bad address, 422 refused, 504 too slow, 502 no answer. */
export function createGuardedPost({ resolve, userAgent, timeoutMs = TIMEOUT_MS }: GuardedPostOptions): GuardedPost {
  return async (address, { headers, body }, outer) => {
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    try {
      const url = webAddress(address);
      const [pinned] = await abortable(resolve(url.hostname), signal);
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
