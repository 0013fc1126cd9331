/**
 * Reading JSON that a stranger sent. Members by which plain values could be mistaken for something else are dropped,
 * as unknown members are: `__proto__`, and `toString`, without which a value cannot even be put into a message.
 */
import { badRequest } from "../core/errors.ts";
import { JsonTooMuch, readJson } from "../core/json-reader.ts";

const DROPPED = new Set(["__proto__", "toString"]);
/** Escapes can spell any name. */
const SUSPECT = /__proto__|toString|\\u/;

/** @throws Problem 400 `malformed` when it is not JSON, `too_much_json`. */
export function parseJson(text: string): unknown {
  const value = parseBody(text);
  if (SUSPECT.test(text)) dropMembers(value);
  return value;
}

/** The same with every member, for those who refuse what they do not know. */
export function parseBody(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonTooMuch) throw tooMuchJson(error.fault);
    throw badRequest("The body is not what its content type says: it is not JSON.", "malformed");
  }
}

function dropMembers(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const name of DROPPED) if (!Array.isArray(value)) Reflect.deleteProperty(value, name);
  for (const member of Object.values(value)) dropMembers(member);
}

/** @param fault what is too much of it. */
export const tooMuchJson = (fault: string) => badRequest(`The body is ${fault}. Send less at once.`, "too_much_json");
