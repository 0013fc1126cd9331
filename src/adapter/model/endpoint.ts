/** How providers are reached: no redirect takes a key to another host, and answers are bounded. */

import { checkedAnswer } from "../../core/checked-stream.ts";
import { likeFetch } from "../../core/like-fetch.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ProviderKind } from "./providers.ts";

export interface Endpoint {
  providerId: string;
  kind: ProviderKind;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
}

/** Address of Ollama's own protocol, given that of its OpenAI-compatible one. */
export const ollamaRoot = (baseUrl: string): string => baseUrl.replace(/\/v1$/, "");

/** The first value that can be a number of tokens; null when none can. */
export function sizeOf(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && Number.isSafeInteger(value) && value > 0);
  return found === undefined ? null : Number(found);
}

/**
 * Makes a `fetch` that follows no redirect and leaves time limits to the caller. @param values most JSON values in one
 * answer or event.
 */
const createFetch = (values?: number) =>
  likeFetch(async (input, init) =>
    checkedAnswer(await fetch(input, { ...init, redirect: "manual", timeout: false }), {
      maxBytes: LIMITS.providerAnswerBytes,
      eventBytes: LIMITS.providerEventBytes,
      ...(values === undefined ? {} : { values }),
    }),
  );

export const fetchDirectly = createFetch();
/** For answers that consist of thousands of numbers. */
export const fetchVectors = createFetch(LIMITS.vectorValues);

/** For answers that are passed on as they arrive; the caller bounds them. */
export const fetchUnread = likeFetch(
  async (input, init) => await fetch(input, { ...init, redirect: "manual", timeout: false }),
);
