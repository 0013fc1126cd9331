/** Sends requests to a speech service: redirects are not followed, answers are bounded, and failures are Problems. */

import { messageOf, type Problem, unavailable } from "../../core/errors.ts";
import { readJson } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { readBounded } from "../../core/read-bounded.ts";

interface SpeechAnswer {
  bytes: Uint8Array;
  headers: Headers;
}

/**
 * @param name the service's name in problems.
 * @throws Problem 503 `speech_unreachable`, `speech_refused` (with the status) or `speech_too_large`.
 */
export async function speechFetch(name: string, url: string, init: RequestInit): Promise<SpeechAnswer> {
  let answer: Response;
  try {
    answer = await fetch(url, { ...init, redirect: "manual" });
  } catch (error) {
    init.signal?.throwIfAborted();
    throw unavailable("speech_unreachable", `The speech service ${name} cannot be reached: ${messageOf(error)}`);
  }
  if (!answer.ok) {
    await answer.body?.cancel().catch(() => {});
    throw toProblem(name, answer.status);
  }
  const tooMuch = () =>
    unavailable("speech_too_large", `The speech service ${name} sent more than ${LIMITS.speechBytes} bytes.`);
  return { bytes: await readBounded(answer.body, LIMITS.speechBytes, tooMuch), headers: answer.headers };
}

function toProblem(name: string, status: number): Problem {
  if (status === 401 || status === 403)
    return unavailable("speech_refused", `The speech service ${name} refused the key (${status}). Set another.`);
  if (status === 404) return unavailable("speech_refused", `The speech service ${name} has no such voice or model.`);
  if (status === 429)
    return unavailable("speech_refused", `The speech service ${name} says that it was asked too often. Try later.`);
  return unavailable("speech_refused", `The speech service ${name} answered with status ${status}.`);
}

/** Parses an answer as JSON. @throws Problem 503 when it is not JSON. */
export function jsonOf(name: string, { bytes }: SpeechAnswer): unknown {
  try {
    return readJson(new TextDecoder().decode(bytes));
  } catch {
    throw unavailable("speech_refused", `The speech service ${name} did not answer with JSON.`);
  }
}
