/**
 * How deep JSON is nested, before it is parsed. What walks a value (checking, masking, writing) does so by recursion:
 * a text of some hundred kilobytes that is nothing but brackets would hold its thread up for seconds, and then fail.
 */
import { LIMITS } from "./limits.ts";

const [QUOTE, BACKSLASH] = [34, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Whether lists and objects in it are nested more than `LIMITS.jsonLevels` deep. It need not be valid JSON. */
export function isTooDeep(json: string): boolean {
  let level = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      level++;
      if (level > LIMITS.jsonLevels) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) level--;
  }
  return false;
}

/** Place of the quote that ends the text which begins there. */
function endOfText(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return json.length;
}

/** The same of a value that something else has parsed. */
export function isValueTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const one of level)
      if (typeof one === "object" && one !== null) for (const member of Object.values(one)) below.push(member);
    if (depth > LIMITS.jsonLevels) return true;
    level = below;
  }
  return false;
}
