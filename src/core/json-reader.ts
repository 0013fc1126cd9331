/**
 * Reads JSON that others wrote. Functions that walk a value (checking, masking, writing) are recursive and take time
 * for each member. So the text's length, nesting and number of values are limited before it is parsed.
 */
import { membersOf } from "./is-object.ts";
import { LIMITS } from "./limits.ts";

interface JsonBounds {
  /** Limit for the text's length. Callers that already limit the bytes they read need not set it. */
  characters?: number;
  /** Nesting depth of lists and objects. */
  levels?: number;
  /** Members of all lists and objects together. */
  values?: number;
}

/** What exceeds a bound, in words that end a sentence: "nested more than 200 levels deep". */
type JsonFault = string;

/** The text is JSON but exceeds a bound. */
export class JsonTooMuch extends SyntaxError {
  constructor(readonly fault: JsonFault) {
    super(`The JSON is ${fault}.`);
  }
}

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/**
 * Parses text from outside. The members are not validated: check the value with a schema.
 * @throws JsonTooMuch beyond the bounds, SyntaxError when it is not JSON.
 */
export function readJson(text: string): unknown {
  const fault = jsonFault(text);
  if (fault !== undefined) throw new JsonTooMuch(fault);
  return JSON.parse(text);
}

/** Like `readJson`, but returns undefined when the text is not JSON or exceeds a bound. */
export function jsonIn(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

/** The members of a JSON object; empty when the text is not one. */
export const readMembers = (text: string): Record<string, unknown> => membersOf(jsonIn(text));

/** Which bound the text exceeds; undefined for none. The text need not be valid JSON. */
export function jsonFault(text: string, bounds: JsonBounds = {}): JsonFault | undefined {
  const { characters = Number.POSITIVE_INFINITY } = bounds;
  if (text.length > characters) return `longer than ${characters} characters`;
  return createJsonGauge(bounds)(text);
}

/** Like `jsonFault`, for a text that comes in pieces, in order. */
function createJsonGauge(bounds: JsonBounds = {}): (piece: string) => JsonFault | undefined {
  const { levels = LIMITS.jsonLevels, values = LIMITS.jsonValues } = bounds;
  let [level, count] = [0, 0];
  let [inText, isEscaped] = [false, false];
  return (piece) => {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (inText) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) inText = false;
      } else if (code === QUOTE) inText = true;
      else if (code === COMMA) count++;
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        count++;
        level++;
        if (level > levels) return tooDeep(levels);
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) level--;
      if (count > values) return tooMany(values);
    }
    return undefined;
  };
}

/** Like `jsonFault`, for a value that something else has parsed. */
export function valueFault(value: unknown): JsonFault | undefined {
  const { jsonLevels: levels, jsonValues: values } = LIMITS;
  let layer = [value];
  let count = 0;
  for (let depth = 0; layer.length > 0; depth++) {
    const below: unknown[] = [];
    for (const one of layer) {
      if (typeof one !== "object" || one === null) continue;
      for (const member of Object.values(one)) below.push(member);
      if (count + below.length > values) return tooMany(values);
    }
    count += below.length;
    if (depth > levels) return tooDeep(levels);
    layer = below;
  }
  return undefined;
}

const tooDeep = (levels: number): JsonFault => `nested more than ${levels} levels deep`;
const tooMany = (values: number): JsonFault => `made of more than ${values} values`;
