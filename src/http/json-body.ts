/**
 * Parses JSON that a stranger sent. It drops members by which a plain value could pass for something else, as unknown
 * members are dropped: `__proto__`, and `toString`, whose replacement would even break putting the value into a
 * message.
 */
import { badRequest } from "../core/errors.ts";
import { JsonTooMuch, readJson } from "../core/json-reader.ts";

const DROPPED = new Set(["__proto__", "toString"]);
/** Escapes (`\u`) can spell any name, so they are suspect too. */
const SUSPECT = /__proto__|toString|\\u/;

/** @throws Problem 400 `malformed` when it is not JSON, or `too_much_json`. */
export function parseJson(text: string): unknown {
  const value = parseBody(text);
  if (SUSPECT.test(text)) dropMembers(value);
  return value;
}

/** Like `parseJson`, but keeps every member, for callers that refuse unknown ones. */
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

/** @param fault which limit the JSON exceeds. */
export const tooMuchJson = (fault: string) => badRequest(`The body is ${fault}. Send less at once.`, "too_much_json");
