/**
 * Cuts a query into the tokens of the database's grammar (openCypher in Kuzu 0.11).
 *
 * A text that the database's lexer could read differently is refused, because the guard must see the query that the
 * database runs.
 */

export interface Token {
  kind: "word" | "name" | "string" | "number" | "mark";
  text: string;
}

const SPACE = /[\s\x1c-\x1f\u180e]+/y;
const WORD = /[\p{ID_Start}\p{Pc}][\p{ID_Continue}\p{Sc}]*/uy;
const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:[eE]-?\d+)?/y;
const COMMENT = /\/\*.*?\*\//sy;
const LINE_COMMENT = /\/\/[^\r\n]*/y;
/** Strings with the escapes of the grammar. After any other escape, the database would end the string elsewhere. */
const STRING =
  /'(?:[^'\\]|\\(?:[\\'"bfnrtBFNRT]|[uU][0-9a-fA-F]{4}))*'|"(?:[^"\\]|\\(?:[\\'"bfnrtBFNRT]|[uU][0-9a-fA-F]{4}))*"/y;
const NAME = /`[^`]*`/y;

/** @returns the tokens without white space and comments, or a text that says why the query is refused */
export function tokenise(query: string): Token[] | string {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const text = pattern.exec(query)?.[0];
    if (text !== undefined) at += text.length;
    return text;
  };
  while (at < query.length) {
    if (take(SPACE) !== undefined) continue;
    if (query.startsWith("/*", at)) {
      const comment = take(COMMENT);
      if (comment === undefined) return "a comment is not closed";
      // The database's lexer takes a star after a star as text, so it would end the comment elsewhere.
      if (comment.slice(2).includes("**")) return "a comment holds two stars side by side";
      continue;
    }
    if (take(LINE_COMMENT) !== undefined) continue;
    const quote = query[at]!;
    if (quote === "'" || quote === '"') {
      const text = take(STRING);
      if (text === undefined) return "a string is not closed, or holds an escape that is none";
      tokens.push({ kind: "string", text: text.slice(1, -1) });
    } else if (quote === "`") {
      const text = take(NAME);
      if (text === undefined) return "an escaped name is not closed";
      tokens.push({ kind: "name", text: text.slice(1, -1) });
    } else if (quote === "\\") return "a backslash has no place outside strings";
    else {
      const word = take(WORD);
      const number = word === undefined ? take(NUMBER) : undefined;
      // The database needs no space after a number: a word directly after it would begin a clause.
      if (number !== undefined && wordAt(query, at)) return `a space is missing after ${number}`;
      if (word !== undefined) tokens.push({ kind: "word", text: word });
      else if (number !== undefined) tokens.push({ kind: "number", text: number });
      else {
        const mark = String.fromCodePoint(query.codePointAt(at)!);
        at += mark.length;
        tokens.push({ kind: "mark", text: mark });
      }
    }
  }
  return tokens;
}

function wordAt(query: string, at: number): boolean {
  WORD.lastIndex = at;
  return WORD.test(query);
}
