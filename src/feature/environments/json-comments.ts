/** Reads JSON as editors write it into `devcontainer.json`: with comments, and with commas before a closing bracket. */
import { readJson } from "../../core/json-reader.ts";

/** @throws SyntaxError like `readJson`. */
export const readJsonWithComments = (text: string): unknown => readJson(plainJson(text));

/** Removes comments and trailing commas in one pass. Text in quotes stays as it is. */
function plainJson(text: string): string {
  const pieces: string[] = [];
  /** Index of the piece that is a comma with only blanks after it so far; -1 when there is none. */
  let comma = -1;
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    const end = char === '"' ? endOfString(text, at) : char === "/" ? endOfComment(text, at) : at + 1;
    if (char === "/" && end > at + 1) {
      at = end;
      continue;
    }
    if ((char === "}" || char === "]") && comma >= 0) pieces[comma] = "";
    if (char === ",") comma = pieces.length;
    else if (char.trim() !== "") comma = -1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces.join("");
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** The position after the comment; the position after the slash when no comment begins here. */
function endOfComment(text: string, from: number): number {
  const kind = text[from + 1];
  if (kind !== "/" && kind !== "*") return from + 1;
  const end = text.indexOf(kind === "/" ? "\n" : "*/", from + 2);
  return end < 0 ? text.length : end + (kind === "/" ? 0 : 2);
}
