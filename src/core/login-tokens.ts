/**
 * The parts of a person's log-in that are never shown or stored: the tokens in a JSON file, or the whole text when it
 * is one word.
 */
import { isObject } from "./is-object.ts";
import { jsonIn } from "./json-reader.ts";

export function loginTokens(login: string): string[] {
  const value = jsonIn(login);
  return value === undefined ? [login.trim()] : tokensIn(value);
}

const TOKEN_CHARACTERS = 16;
const DATE = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function tokensIn(value: unknown): string[] {
  if (typeof value === "string")
    return value.length >= TOKEN_CHARACTERS && !/\s/.test(value) && !DATE.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(tokensIn);
  return isObject(value) ? Object.values(value).flatMap(tokensIn) : [];
}
