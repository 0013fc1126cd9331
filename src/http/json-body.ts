/**
 * Reading JSON that a stranger sent. Members by which plain values could be mistaken for something else are dropped,
 * as unknown members are: `__proto__`, and `toString`, without which a value cannot even be put into a message.
 */
import { badRequest } from "../core/errors.ts";
import { isTooDeep } from "../core/json-depth.ts";
import { LIMITS } from "../core/limits.ts";

const DROPPED = new Set(["__proto__", "toString"]);
/** Escapes can spell any name. */
const SUSPECT = /__proto__|toString|\\u/;

/** @throws Problem 400 `malformed` when it is not JSON, `too_deep`. */
export function parseJson(text: string): unknown {
  assertShallow(text);
  try {
    if (!SUSPECT.test(text)) return JSON.parse(text);
    return JSON.parse(text, (name, value: unknown) => (DROPPED.has(name) ? undefined : value));
  } catch {
    throw badRequest("The body is not what its content type says.", "malformed");
  }
}

/** @throws Problem 400 `too_deep`. */
export function assertShallow(json: string): void {
  if (isTooDeep(json)) throw tooDeep();
}

export const tooDeep = () =>
  badRequest(`The body's lists and objects may be nested ${LIMITS.jsonLevels} levels deep at most.`, "too_deep");
