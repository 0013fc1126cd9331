/** Selects the parts of a Markdown text to read aloud, and cuts them into pieces. Each rule reads a line once. */
import { memoize } from "../../core/lazy.ts";

const FENCE = /^\s{0,3}(```|~~~)/;
const INLINE: [RegExp, string][] = [
  [/!\[([^\][]{0,300})\]\([^()\s]{0,2000}\)/g, "$1"],
  [/\[([^\][]{1,300})\]\([^()\s]{0,2000}\)/g, "$1"],
  [/<\/?[a-z][^<>]{0,200}>/gi, ""],
  [/https?:\/\/[^\s)>\]]+/g, ""],
  [/`+/g, ""],
  [/(\*{1,3}|~~)(?=\S)/g, ""],
  [/(?<=\S)(\*{1,3}|~~)/g, ""],
  [/(^|\s)_{1,2}(?=\S)/g, "$1"],
  [/(?<=\S)_{1,2}(?=\s|$|[.,;:!?])/g, ""],
];

/**
 * The text without code blocks, table rules and Markdown marks. A line that does not end a sentence gets a full stop.
 */
export function spokenText(markdown: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split("\n")) {
    const [, mark] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark === fence) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const said = spokenLine(line);
    if (said !== "") lines.push(/[.!?:;,…]$/.test(said) ? said : `${said}.`);
    else if (lines.at(-1) !== "") lines.push("");
  }
  return lines.join("\n").trim();
}

function spokenLine(line: string): string {
  let text = line.trim();
  if (text === "" || /^([-*_] ?){3,}$/.test(text) || isTableRule(text)) return "";
  if (text.startsWith("|"))
    text = text
      .split("|")
      .map((cell) => cell.trim())
      .filter(Boolean)
      .join(", ");
  text = text.replace(/^(#{1,6}\s+|>\s?|[-*+]\s+(\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)/, "");
  for (const [pattern, replacement] of INLINE) text = text.replace(pattern, replacement);
  return text.replace(/\s+/g, " ").trim();
}

const isTableRule = (line: string): boolean => line.indexOf("|", 1) > 0 && /^[\s:|-]+$/.test(line);

const sentences = memoize(() => new Intl.Segmenter("en", { granularity: "sentence" }));

/**
 * Cuts the text into pieces of at most `max` characters, between sentences if possible. The first piece is one
 * sentence, so that its sound is available soon.
 */
export function piecesOf(text: string, max: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  const close = (): void => {
    if (piece.trim() !== "") pieces.push(piece.trim());
    piece = "";
  };
  for (const { segment } of sentences().segment(text)) {
    for (const part of cut(segment, max)) {
      if (piece.length + part.length > max) close();
      piece += part;
      if (pieces.length === 0) close();
    }
  }
  close();
  return pieces;
}

/** Cuts a sentence that is too long at spaces, else anywhere except inside a character. */
function cut(sentence: string, max: number): string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > max) {
    const space = rest.lastIndexOf(" ", max);
    let at = space > max / 2 ? space : max;
    if (/[\ud800-\udbff]/.test(rest[at - 1] ?? "")) at--;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...parts, rest];
}
