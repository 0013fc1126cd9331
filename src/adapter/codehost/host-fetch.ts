/**
 * A `fetch` for a code host's API: bounded in time and bytes, follows no redirects, and turns failures into Problems.
 */

import { isProblem, messageOf, Problem } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import { jsonFault } from "../../core/json-reader.ts";
import type { Fetching } from "../../core/like-fetch.ts";
import { readBounded } from "../../core/read-bounded.ts";

export type HostFetch = Fetching;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 8 * 1024 * 1024;
const tooMuch = () => new Problem(502, "codehost_failed", "The code host answered more than 8 MiB.");

export function createHostFetch(): HostFetch {
  return async (input, init = {}) => {
    const { signal, ...rest } = init;
    const timer = AbortSignal.timeout(TIMEOUT_MS);
    const both = signal ? AbortSignal.any([signal, timer]) : timer;
    try {
      const answer = await fetch(input, { ...rest, signal: both, redirect: "manual" });
      if (answer.status >= 300 && answer.status < 400 && answer.status !== 304)
        throw new Problem(
          409,
          "codehost_moved",
          "The code host redirects: the repository was renamed, or its address is written differently.",
        );
      const bytes = await readBounded(answer.body, MAX_BYTES, tooMuch);
      const fault = /json/i.test(answer.headers.get("content-type") ?? "")
        ? jsonFault(bytes.toString("utf8"))
        : undefined;
      if (fault !== undefined) throw new Problem(502, "codehost_failed", `The code host's answer is ${fault}.`);
      const body = bytes.byteLength === 0 ? null : bytes;
      return new Response(body, { status: answer.status, headers: answer.headers });
    } catch (error) {
      if (isProblem(error)) throw error;
      if (timer.aborted) throw new Problem(504, "codehost_timeout", "The code host did not answer within 30 s.");
      throw new Problem(
        502,
        "codehost_unreachable",
        `The code host could not be reached (${messageOf(error).slice(0, 200)}).`,
      );
    }
  };
}

/**
 * Turns an error status into a Problem. Failures that may pass later get a status of 500 or more, so that a job tries
 * again.
 */
function toProblem(status: number, said: string): Problem {
  const words = said.replace(/\s+/g, " ").trim().slice(0, 300) || "no reason given";
  if (status === 401)
    return new Problem(502, "codehost_unauthorized", "The code host refused our credentials. Renew them.");
  if (status === 429 || (status === 403 && /rate limit|abuse/i.test(words)))
    return new Problem(503, "codehost_busy", "The code host's rate limit is reached.");
  if (status === 403)
    return new Problem(
      403,
      "codehost_forbidden",
      `The code host does not let us do this: ${words}. See its permissions.`,
    );
  if (status === 404 || status === 410)
    return new Problem(404, "codehost_not_found", "The code host has nothing there, or does not let us see it.");
  if (status === 409 || status === 422)
    return new Problem(422, "codehost_refused", `The code host refused this: ${words}.`);
  return new Problem(502, "codehost_failed", `The code host answered ${status}.`);
}

/** Reads all items of a list, over at most `most` pages of `size`. */
export const pagesOf =
  ({ size, most }: { size: number; most: number }) =>
  async <T>(read: (page: number) => Promise<T[]>): Promise<T[]> => {
    const all: T[] = [];
    for (let page = 1; page <= most; page++) {
      const items = await read(page);
      all.push(...items);
      if (items.length < size) break;
    }
    return all;
  };

/**
 * Runs work of a host's client and turns its failures into Problems. Clients throw either an error with a status, or
 * the response itself.
 */
export async function askHost<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isProblem(error)) throw error;
    const { cause, status, error: said } = membersOf(error);
    if (isProblem(cause)) throw cause;
    if (typeof status === "number")
      throw toProblem(status, error instanceof Error ? error.message : String(membersOf(said)["message"] ?? ""));
    throw new Problem(502, "codehost_failed", `Asking the code host failed (${messageOf(error).slice(0, 200)}).`);
  }
}
