/** Normalizes host names, so that names from users, agents and programs can be compared. */
import { Problem } from "./errors.ts";

/**
 * Normalizes a host: lower case, no brackets, no trailing dot; decimal, octal and hexadecimal addresses become dotted.
 * @throws Problem 422 `bad_host`.
 */
export function plainHost(given: string): string {
  const bare = given.trim();
  const text = bare.includes(":") && !bare.startsWith("[") ? `http://[${bare}]/` : `http://${bare}/`;
  if (bare === "" || /[\s/\\?#@%]/.test(bare) || !URL.canParse(text))
    throw new Problem(422, "bad_host", "This is not a usable host name.");
  return new URL(text).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/** Whether a text has the form of a Host header: a name or an address, with an optional port. */
export const isHostHeader = (text: string): boolean =>
  /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i.test(text);
