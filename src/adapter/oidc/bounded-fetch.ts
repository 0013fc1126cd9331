/** The `fetch` for openid-client, which bounds a provider's answers before they are parsed. */
import type { CustomFetch } from "openid-client";
import { checkedAnswer } from "../../core/checked-stream.ts";

const MAX_BYTES = 512 * 1024;

export const boundedFetch: CustomFetch = async (url, options) => {
  const { body = null, ...rest } = options;
  return checkedAnswer(await fetch(url, { ...rest, body, signal: options.signal ?? null }), { maxBytes: MAX_BYTES });
};
