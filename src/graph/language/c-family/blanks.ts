/** Blanks out pieces of a text. All other characters keep their offsets. */

/** A piece of text to blank out. `with` is written at its beginning. */
export interface Blank {
  start: number;
  end: number;
  with?: string;
}

export function applyBlanks(text: string, blanks: Blank[]): string {
  blanks.sort((a, b) => a.start - b.start);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, with: put = "" } of blanks) {
    if (start < at) continue;
    parts.push(text.slice(at, start), put, text.slice(start + put.length, end).replace(/[^\n]/g, " "));
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}
