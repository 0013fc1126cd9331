/** The tokenizer of the condition language: one pass, no backtracking. */
import { isOneOf } from "../../core/typed-keys.ts";

export type Token =
  | { kind: "literal"; value: string | number | boolean | null; offset: number }
  | { kind: "path"; text: string; offset: number }
  | { kind: "sign"; sign: Sign; offset: number }
  | { kind: "end"; offset: number };

const SIGNS = ["==", "!=", "(", ")", "[", "]", ",", "and", "or", "not", "in"] as const;
export type Sign = (typeof SIGNS)[number];

/** What is wrong with a condition, and where in its text (offset in characters). */
export class ConditionError extends Error {
  override readonly name = "ConditionError";
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

const isSign = (word: string): word is Sign => isOneOf(SIGNS, word);
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/**
 * Splits a condition into tokens; the last token is `end`. Throws ConditionError at the first character that begins no
 * token.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const offset = at;
    const character = source.charAt(at);
    if (/\s/.test(character)) {
      at++;
    } else if (character === '"' || character === "'") {
      const [value, after] = readQuoted(source, at, character);
      tokens.push({ kind: "literal", value, offset });
      at = after;
    } else if (/[-0-9]/.test(character)) {
      at = endOfRun(source, at + 1, /[0-9.eE]/);
      const digits = source.slice(offset, at);
      if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(digits)) throw new ConditionError(`"${digits}" is not a number.`, offset);
      tokens.push({ kind: "literal", value: Number(digits), offset });
    } else if (/[A-Za-z_]/.test(character)) {
      at = endOfRun(source, at, /[A-Za-z0-9_.-]/);
      tokens.push(wordToken(source.slice(offset, at), offset));
    } else {
      const two = source.slice(at, at + 2);
      const sign = isSign(two) ? two : character;
      if (!isSign(sign)) throw new ConditionError(unknownSign(two, character), offset);
      tokens.push({ kind: "sign", sign, offset });
      at += sign.length;
    }
  }
  tokens.push({ kind: "end", offset: source.length });
  return tokens;
}

function wordToken(word: string, offset: number): Token {
  if (CONSTANTS.has(word)) return { kind: "literal", value: CONSTANTS.get(word) ?? null, offset };
  return isSign(word) ? { kind: "sign", sign: word, offset } : { kind: "path", text: word, offset };
}

function endOfRun(source: string, from: number, allowed: RegExp): number {
  let at = from;
  while (at < source.length && allowed.test(source.charAt(at))) at++;
  return at;
}

/** Reads the text between quotes. A backslash makes the next character plain. */
function readQuoted(source: string, from: number, quote: string): [value: string, after: number] {
  const pieces: string[] = [];
  for (let at = from + 1; at < source.length; at++) {
    const character = source.charAt(at);
    if (character === quote) return [pieces.join(""), at + 1];
    if (character === "\\") at++;
    pieces.push(source.charAt(at));
  }
  throw new ConditionError("This text is never closed.", from);
}

function unknownSign(two: string, one: string): string {
  if (two === "{{") return "A condition is written without braces.";
  if (two === "&&") return "Write `and` instead of &&.";
  if (two === "||") return "Write `or` instead of ||.";
  if (one === "=") return "Write == to compare.";
  if (one === "!") return "Write `not`, or != to compare.";
  return `"${one}" means nothing here.`;
}
