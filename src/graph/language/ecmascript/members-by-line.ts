/**
 * Members of interfaces and type literals that only the end of a line separates. If a line begins with `<` or `[`, the
 * grammar takes it for part of the type at the end of the line before (`Box` and `<A>(a: A): A` become `Box<A>`), and
 * cannot read the rest. In TypeScript, neither may begin on another line than the type that it belongs to.
 */

/** A line that begins with a call signature's type parameters, or with a member in brackets. */
const BEGINS = /\n([ \t]*)(?=<\s*[\p{L}_$]|\[[^\n]*\]\s*[?(:])/gu;
/** Characters that cannot end a member: the member continues on the next line. */
const OPEN = new Set("({[,;|&=?:<+-*/!~^%.");

/**
 * Puts a semicolon before such lines, in place of a blank of their indentation. @returns undefined if there are none
 */
export function separateMembers(text: string): string | undefined {
  let found = "";
  let taken = 0;
  for (const match of text.matchAll(BEGINS)) {
    const at = match.index;
    if (!endsMember(text, at)) continue;
    // If the line is not indented, the semicolon replaces the line end. That is safe, as no comment can be before it.
    const place = match[1] === "" ? at : at + match[0].length - 1;
    found += `${text.slice(taken, place)};`;
    taken = place + 1;
  }
  return taken === 0 ? undefined : found + text.slice(taken);
}

/** Whether the text before a line's end, apart from comments, may be a complete member. */
function endsMember(text: string, end: number): boolean {
  for (let to = end; to > 0; ) {
    const from = text.lastIndexOf("\n", to - 1) + 1;
    const line = text.slice(from, to).trim();
    if (line !== "" && !/^(\/\/|\/\*|\*)/.test(line)) return !OPEN.has(line.split("//", 1)[0]?.trimEnd().at(-1) ?? ",");
    to = from - 1;
  }
  return false;
}
