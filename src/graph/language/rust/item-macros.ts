/**
 * Macros that contain items: `cfg_net! { pub fn connect() { … } }`. The grammar reads the text in their braces as loose
 * tokens, so their functions would be lost. For the parser, the macro's name and braces are blanked.
 */

/** A macro call at the start of a line, up to its brace. */
const CALL = /(?:^|\n)[ \t]*(?:\w+::)*(\w+)![ \t]*$/;
const MAY_HAVE = /^[ \t]*[\w:]+![ \t]*\{/m;
/** Braces, and everything that may contain braces: comments, strings and character literals. */
const TOKEN = /\/\/[^\n]*|\/\*|\br#{0,9}"|"|'[^'\\\n]'|'\\[^\n]{1,9}?'|[{}]/g;
/**
 * The beginning of an item. The contents of other macros (`static ref A: B = c;`, `struct Flags: u32`) begin
 * differently.
 */
const ITEM =
  /^(?:pub(?:\([^()\n]{1,80}\))?\s+)?(?:(?:(?:unsafe|const|async|default)\s+|extern\s+(?:"[^"\n]{0,20}"\s+)?){0,4}(?:fn|trait)\s+\w+\s*[(<:{]|(?:unsafe\s+)?impl\s*[^\s(]|mod\s+\w+\s*[;{]|use\s+[\w:{]|(?:struct|enum)\s+\w+\s*[<{(;])/;
/** Comments and attributes before an item. */
const BEFORE = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|#!?\[[^\]\n]*\])/;
/** Longest name of a macro including its path, in characters. */
const MAX_NAME = 120;
const MAX_BEFORE = 200;

/** Blanks the macros that contain items. The text keeps its length. */
export function openItemMacros(text: string): string {
  if (!MAY_HAVE.test(text)) return text;
  const cuts: [from: number, to: number][] = [];
  /** For each open brace the offset of its macro's name, or -1. */
  const open: number[] = [];
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text)) {
    const { 0: token, index } = found;
    if (token === "{") open.push(macroAt(text, index));
    else if (token === "}") {
      const from = open.pop() ?? -1;
      if (from >= 0) cuts.push([from, text.indexOf("{", from) + 1], [index, index + 1]);
    } else if (token === '"') TOKEN.lastIndex = endOfText(text, index + 1);
    else if (token === "/*" || token.startsWith("r")) {
      const close = token === "/*" ? "*/" : `"${token.slice(1, -1)}`;
      const end = text.indexOf(close, index + token.length);
      if (end < 0) break;
      TOKEN.lastIndex = end + close.length;
    }
  }
  return cuts.length === 0 ? text : withoutMarks(blank(text, cuts), cuts);
}

/** The offset after the quote that ends a string. */
function endOfText(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** The offset of the macro whose items a brace opens; -1 if there is none. */
function macroAt(text: string, brace: number): number {
  if (!/!\s?$/.test(text.slice(Math.max(0, brace - 2), brace))) return -1;
  const before = text.slice(Math.max(0, brace - MAX_NAME), brace);
  const call = CALL.exec(before);
  if (!call || call[1] === "macro_rules") return -1;
  let at = brace + 1;
  for (let steps = 0; steps < MAX_BEFORE; steps++) {
    const skipped = BEFORE.exec(text.slice(at, at + 2_000));
    if (!skipped) break;
    at += skipped[0].length;
  }
  const from = brace - before.length + call.index;
  return ITEM.test(text.slice(at, at + 300)) ? from : -1;
}

function blank(text: string, cuts: readonly (readonly [number, number])[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const [from, to] of [...cuts].sort((a, b) => a[0] - b[0])) {
    parts.push(text.slice(at, from), text.slice(from, to).replace(/[^\n]/g, " "));
    at = to;
  }
  return parts.join("") + text.slice(at);
}

/** Blanks lines that begin with `@`. Only the macro reads them. */
function withoutMarks(text: string, cuts: readonly (readonly [number, number])[]): string {
  const [first, last] = [Math.min(...cuts.map(([from]) => from)), Math.max(...cuts.map(([from]) => from))];
  const inside = text.slice(first, last).replace(/^[ \t]*@[^\n]*/gm, (line) => " ".repeat(line.length));
  return text.slice(0, first) + inside + text.slice(last);
}
