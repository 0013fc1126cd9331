/** Cuts C and C++ text into tokens, as far as recognizing macros requires. Comments and directives are left out. */

export enum TokenKind {
  Word,
  /** Strings, characters and numbers. */
  Literal,
  Mark,
}

/** The tokens of a text as columns, in order. `directives` are the preprocessor lines between them. */
export interface Tokens {
  count: number;
  kind: Uint8Array;
  start: Int32Array;
  end: Int32Array;
  directives: Directive[];
}

export interface Directive {
  /** `if`, `ifdef`, `else`, `endif`, … */
  name: string;
  start: number;
  /** Offset after the last character, including continued lines. */
  end: number;
  /** How many tokens come before the directive. */
  token: number;
}

const SLASH = 47;
const STAR = 42;
const BACKSLASH = 92;
const NEWLINE = 10;
const QUOTE = 34;
const APOSTROPHE = 39;
const HASH = 35;
const PAREN = 40;

function isWordStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code > 127 || code === 36;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** The end of a line. Lines continued by a backslash count as one. */
function lineEnd(text: string, from: number): number {
  let at = text.indexOf("\n", from);
  while (at > 0 && text.charCodeAt(text.charCodeAt(at - 1) === 13 ? at - 2 : at - 1) === BACKSLASH)
    at = text.indexOf("\n", at + 1);
  return at < 0 ? text.length : at;
}

function quotedEnd(text: string, from: number, quote: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === quote) return at + 1;
    else if (code === NEWLINE) return at;
  }
  return text.length;
}

/** The end of a raw string `R"mark(…)mark"`. `from` is the offset of its quote. */
function rawEnd(text: string, from: number): number {
  const open = text.indexOf("(", from);
  if (open < 0 || open - from > 18) return quotedEnd(text, from, QUOTE);
  const close = text.indexOf(`)${text.slice(from + 1, open)}"`, open);
  return close < 0 ? text.length : close + (open - from) + 1;
}

/** Reads a directive. It ends before a comment that continues on the next line. */
function readDirective(text: string, at: number, token: number): Directive {
  let end = lineEnd(text, at);
  const comment = text.indexOf("/*", at);
  if (comment >= 0 && comment < end && text.indexOf("*/", comment) > end) end = comment;
  const name = /^#[ \t]*(\w*)/.exec(text.slice(at, at + 40))?.[1] ?? "";
  return { name, start: at, end, token };
}

export function tokensOf(text: string): Tokens {
  let room = Math.max(64, Math.ceil(text.length / 4));
  let kind = new Uint8Array(room);
  let start = new Int32Array(room);
  let end = new Int32Array(room);
  const directives: Directive[] = [];
  let count = 0;
  let lineBegins = true;
  const add = (type: TokenKind, from: number, to: number) => {
    if (count === room) {
      room *= 2;
      const kinds = new Uint8Array(room);
      kinds.set(kind);
      kind = kinds;
      const starts = new Int32Array(room);
      starts.set(start);
      start = starts;
      const ends = new Int32Array(room);
      ends.set(end);
      end = ends;
    }
    kind[count] = type;
    start[count] = from;
    end[count++] = to;
  };
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE) {
      lineBegins = true;
      at++;
    } else if (code <= 32 || code === BACKSLASH) at++;
    else if (code === SLASH && text.charCodeAt(at + 1) === SLASH) at = lineEnd(text, at);
    else if (code === SLASH && text.charCodeAt(at + 1) === STAR) {
      const close = text.indexOf("*/", at + 2);
      at = close < 0 ? text.length : close + 2;
    } else if (code === HASH && lineBegins) {
      const found = readDirective(text, at, count);
      directives.push(found);
      at = found.end;
    } else {
      lineBegins = false;
      let to = at + 1;
      if (isWordStart(code)) {
        while (to < text.length && (isWordStart(text.charCodeAt(to)) || isDigit(text.charCodeAt(to)))) to++;
        const prefix = to - at <= 3 && text.charCodeAt(to) === QUOTE && text.charCodeAt(to - 1) === 82;
        if (prefix) to = rawEnd(text, to);
        add(prefix ? TokenKind.Literal : TokenKind.Word, at, to);
      } else if (code === QUOTE || code === APOSTROPHE) {
        to = quotedEnd(text, at, code);
        add(TokenKind.Literal, at, to);
      } else if (isDigit(code)) {
        for (let next = text.charCodeAt(to); ; next = text.charCodeAt(to)) {
          const separated = next === APOSTROPHE && isWordOrDigit(text.charCodeAt(to + 1));
          if (!separated && !isWordOrDigit(next) && next !== 46) break;
          to++;
        }
        add(TokenKind.Literal, at, to);
      } else {
        if (code === 58 && text.charCodeAt(to) === 58) to++;
        else if (code === 45 && text.charCodeAt(to) === 62) to++;
        add(TokenKind.Mark, at, to);
      }
      at = to;
    }
  }
  return { count, kind, start, end, directives };
}

function isWordOrDigit(code: number): boolean {
  return isWordStart(code) || isDigit(code);
}

/** The token after the parenthesis that is opened at `open`; -1 if it is not closed. */
export function afterParen(tokens: Tokens, text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.count && i < open + 4_000; i++) {
    if (tokens.kind[i] !== TokenKind.Mark) continue;
    const code = text.charCodeAt(tokens.start[i]!);
    if (code === PAREN) depth++;
    else if (code === PAREN + 1 && --depth === 0) return i + 1;
  }
  return -1;
}
