/**
 * Sends requests to a messenger's API: JSON both ways, only to addresses that the guard permits, bounded in bytes and
 * time.
 */
import { messageOf, Problem } from "../../core/errors.ts";
import { membersOf, numberIn } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";
import { pause } from "../../core/pause.ts";
import { readBounded } from "../../core/read-bounded.ts";
import type { MessengerDeps } from "./messenger.ts";

interface ChatRequest {
  method: "GET" | "POST" | "PUT" | "PATCH";
  url: string;
  token?: string;
  body?: Record<string, unknown>;
  /** For the whole request; longer for a request that waits for new messages. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES = 8 * 1024 * 1024;
/** If a messenger asks for a longer wait, the call fails, and is tried again later. */
const LONGEST_WAIT_MS = 60_000;
const WAITS_MAX = 5;

/**
 * @param name the messenger's name in problems. Problems never contain an address, which may hold the token.
 * @param waitOf reads from an answer of status 429 how many ms to wait; where it returns undefined, Retry-After counts.
 */
export function createAskChat(
  name: string,
  { request: open, userAgent }: MessengerDeps,
  waitOf: (body: Record<string, unknown>) => number | undefined,
) {
  async function askOnce({ method, url, token, body, timeoutMs = TIMEOUT_MS }: ChatRequest, outer: AbortSignal) {
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    const headers: Record<string, string> = { "User-Agent": userAgent };
    if (token !== undefined) headers["Authorization"] = token;
    if (body !== undefined) headers["Content-Type"] = "application/json; charset=utf-8";
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const answer = await open(url, { method, headers, ...text, silenceMs: timeoutMs, signal });
      const tooMuch = () => new Problem(502, "messenger_answer", `${name} sent too much.`);
      const bytes = await readBounded(answer, ANSWER_BYTES, tooMuch).finally(() => {
        answer.on("error", () => {});
        answer.destroy();
      });
      return {
        status: answer.statusCode ?? 0,
        body: readMembers(bytes.toString()),
        retryAfter: Number(answer.headers["retry-after"]),
      };
    } catch (error) {
      if (error instanceof Problem || outer.aborted) throw error;
      if (timer.aborted) throw new Problem(504, "messenger_timeout", `${name} did not answer in time.`);
      const why = messageOf(error).slice(0, 200);
      throw new Problem(502, "messenger_unreachable", `${name} could not be reached (${why}).`);
    }
  }
  /** @returns the answer's status and the members of its JSON object; no members when the body is not a JSON object. */
  return async (request: ChatRequest, signal: AbortSignal) => {
    for (let waits = 0; ; waits++) {
      const { status, body, retryAfter } = await askOnce(request, signal);
      if (status !== 429) return { status, body };
      const wait = waitOf(body) ?? (Number.isFinite(retryAfter) ? retryAfter * 1_000 : 1_000);
      if (waits >= WAITS_MAX || !(wait >= 0 && wait <= LONGEST_WAIT_MS))
        throw new Problem(503, "messenger_busy", `${name} says that it is asked too often. It is tried again later.`);
      await pause(wait, signal);
    }
  };
}

/** Makes a Problem that says what is wrong and what to do. Its status is 4xx when another attempt cannot help. */
export function refusalOf(name: string, status: number, said: unknown): Problem {
  const words = typeof said === "string" && said !== "" ? ` (${said.slice(0, 200)})` : "";
  if (status === 401)
    return new Problem(422, "messenger_token", `${name} refused the bot's token${words}. Set another.`);
  if (status === 403 || status === 404)
    return new Problem(422, "messenger_refused", `${name} does not let the bot do this${words}.`);
  if (status >= 500) return new Problem(502, "messenger_answer", `${name} answered ${status}${words}.`);
  return new Problem(422, "messenger_refused", `${name} refused it: ${status}${words}.`);
}

/**
 * Waits for work on a message. @param gone matches the messenger's error for a message that no longer exists, which is
 * ignored.
 */
export async function unlessGone(work: Promise<unknown>, gone: RegExp): Promise<void> {
  await work.catch((error) => {
    if (!(error instanceof Problem) || !gone.test(error.detail)) throw error;
  });
}

/** Reads an id that comes as a number or as text; undefined for anything else. */
export function idIn(value: unknown, name: string): string | undefined {
  const found = membersOf(value)[name];
  if (typeof found === "string" && found.length > 0 && found.length <= 255) return found;
  const number = numberIn(value, name);
  return number !== undefined && Number.isSafeInteger(number) ? String(number) : undefined;
}
