/**
 * Members of interfaces and type literals that nothing but the end of the line separates. Where a line begins with `<` or
 * `[`, the grammar reads it as part of the type that ends the line before (`Box` and `<A>(a: A): A` become `Box<A>`), and
 * gives up what follows. TypeScript itself lets neither begin on another line than the type it belongs to.
 */

/** A line that begins a call signature with type parameters, or a member in brackets. */
const BEGINS = /\n([ \t]*)(?=<\s*[\p{L}_$]|\[[^\n]*\]\s*[?(:])/gu;
/** What cannot end a member: what stands before is not complete yet. */
const OPEN = new Set("({[,;|&=?:<+-*/!~^%.");

/** The text with such lines set off by a semicolon in their indentation; undefined if it has none. */
export function separateMembers(text: string): string | undefined {
  let found = "";
  let taken = 0;
  for (const match of text.matchAll(BEGINS)) {
    const at = match.index;
    if (!endsMember(text, at)) continue;
    // The line end itself where the line is not indented: it may not stand in a comment then.
    const place = match[1] === "" ? at : at + match[0].length - 1;
    found += `${text.slice(taken, place)};`;
    taken = place + 1;
  }
  return taken === 0 ? undefined : found + text.slice(taken);
}

/** Whether what stands before the end of a line, comments apart, may be a whole member. */
function endsMember(text: string, end: number): boolean {
  for (let to = end; to > 0; ) {
    const from = text.lastIndexOf("\n", to - 1) + 1;
    const line = text.slice(from, to).trim();
    if (line !== "" && !/^(\/\/|\/\*|\*)/.test(line)) return !OPEN.has(line.split("//", 1)[0]?.trimEnd().at(-1) ?? ",");
    to = from - 1;
  }
  return false;
}
