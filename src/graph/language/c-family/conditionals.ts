/**
 * Preprocessor conditions that the parser cannot read: those that cut through brackets, as in `#ifdef X` `if (a) {`
 * `#else` `if (b) {` `#endif`, and those inside of an expression. One branch of each is kept; the other branches and
 * the directives are blanked. Conditions around whole declarations and statements stay.
 */
import type { Blank } from "./blanks.ts";
import { type Directive, TokenKind, type Tokens } from "./tokens.ts";

interface Branch {
  /** Index of the directive that begins the branch. */
  from: number;
  /** Index of the directive that ends the branch. */
  to: number;
}

/** Finds what to blank out, so that the parser can read the rest. */
export function conditionalBlanks(text: string, tokens: Tokens): Blank[] {
  const { directives } = tokens;
  const blanks: Blank[] = [];
  const open: number[][] = [];
  const depths = parenDepths(text, tokens);
  for (const [i, { name, start, end }] of directives.entries()) {
    if (name === "if" || name === "elif") conditionBlanks(text.slice(start, end), start, blanks);
    if (name === "define") commentBlanks(text.slice(start, end), start, blanks);
    if (name.startsWith("if")) open.push([i]);
    else if (name.startsWith("el")) open.at(-1)?.push(i);
    else if (name === "endif") {
      const marks = open.pop();
      if (marks) group(text, tokens, [...marks, i], depths[marks[0]!]! > 0, blanks);
    }
  }
  return blanks;
}

function group(text: string, tokens: Tokens, marks: readonly number[], inside: boolean, blanks: Blank[]): void {
  const { directives } = tokens;
  const branches: Branch[] = marks.slice(0, -1).map((from, i) => ({ from, to: marks[i + 1]! }));
  const whole = !inside && isBoundary(text, tokens, directives[marks[0]!]!.token - 1);
  if (whole && branches.every((branch) => isWhole(text, tokens, directives[branch.from]!, directives[branch.to]!)))
    return;
  const kept = /^#\s*if\s+0\b/.test(text.slice(directives[marks[0]!]!.start, directives[marks[0]!]!.end)) ? 1 : 0;
  for (const [i, branch] of branches.entries()) {
    const start = directives[branch.from]!.start;
    blanks.push({ start, end: i === kept ? directives[branch.from]!.end : directives[branch.to]!.start });
  }
  const last = directives[marks.at(-1)!]!;
  blanks.push({ start: last.start, end: last.end });
}

/** Words that cannot end a declaration: in `#if CPP_14` `constexpr` `#endif`, the word belongs to what follows. */
const SPECIFIERS = new Set("constexpr inline static extern virtual explicit friend const volatile typedef".split(" "));

/** Whether the text between two directives closes all brackets that it opens, and no others. */
function isWhole(text: string, tokens: Tokens, from: Directive, to: Directive): boolean {
  let braces = 0;
  let parens = 0;
  for (let i = from.token; i < to.token; i++) {
    if (tokens.kind[i] !== TokenKind.Mark) continue;
    switch (text[tokens.start[i]!]) {
      case "{":
        braces++;
        break;
      case "}":
        if (--braces < 0) return false;
        break;
      case "(":
        parens++;
        break;
      case ")":
        if (--parens < 0) return false;
        break;
    }
  }
  const last = from.token < to.token ? text.slice(tokens.start[to.token - 1], tokens.end[to.token - 1]) : "";
  return braces === 0 && parens === 0 && !SPECIFIERS.has(last);
}

/** How many parentheses are open at each directive. */
function parenDepths(text: string, tokens: Tokens): number[] {
  const depths: number[] = [];
  let depth = 0;
  let i = 0;
  for (const { token } of tokens.directives) {
    for (; i < token; i++) {
      if (tokens.kind[i] !== TokenKind.Mark) continue;
      const mark = text[tokens.start[i]!];
      if (mark === "(") depth++;
      // Braces start a new count. If a parenthesis is still open before one, the count was wrong.
      else if (mark === ")") depth = Math.max(0, depth - 1);
      else if (mark === "{" || mark === "}" || mark === ";") depth = 0;
    }
    depths.push(depth);
  }
  return depths;
}

/** Whether a declaration, a statement or an enumerator may begin after a token. */
function isBoundary(text: string, tokens: Tokens, token: number): boolean {
  if (token < 0) return true;
  if (tokens.kind[token] !== TokenKind.Mark) return tokens.kind[token] === TokenKind.Word;
  const mark = text[tokens.start[token]!]!;
  // The brace of an initializer does not begin statements.
  if (mark === "{") return token === 0 || !"=,({".includes(text[tokens.start[token - 1]!]!);
  // True for `public:` and `case x:`, but not for the colon before a constructor's initializers.
  if (mark === ":") return tokens.kind[token - 1] !== TokenKind.Mark;
  return ";})>".includes(mark);
}

/** Replaces `__has_include(<x>)` in a condition, which the parser cannot read. */
function conditionBlanks(line: string, start: number, blanks: Blank[]): void {
  for (const found of line.matchAll(/\((<[\w./+-]+>|"[\w./+-]+")\)/g))
    blanks.push({ start: start + found.index + 1, end: start + found.index + found[0].length - 1, with: "0" });
}

/** Blanks comments inside of a macro's text. The parser would take them for the end of the macro. */
function commentBlanks(line: string, start: number, blanks: Blank[]): void {
  if (!line.includes("/*")) return;
  for (const found of line.matchAll(/\/\*[\s\S]*?(?:\*\/|$)/g))
    for (const piece of found[0].matchAll(/[^\\\n]+/g)) {
      const at = start + found.index + piece.index;
      blanks.push({ start: at, end: at + piece[0].length });
    }
}
