/**
 * Extracts the text of a PDF page that has no tags. Positions make the lines, vertical gaps separate paragraphs, and
 * columns make tables.
 */
import { isText, type PdfBlock, type PdfItem, type PdfText, tableText, tidy } from "./pdf-tags.ts";

interface Line {
  y: number;
  size: number;
  /** The line's text; more than one cell where wide gaps divide it. */
  cells: string[];
}

/**
 * Both are multiples of the letter height: a gap this wide divides two cells; lines this far apart belong to different
 * paragraphs.
 */
const CELL_GAP = 0.8;
const PARAGRAPH_GAP = 1.7;

export function lineBlocks(items: readonly PdfItem[], page: number): PdfBlock[] {
  const blocks: PdfBlock[] = [];
  let open: { lines: Line[] } | undefined;
  const flush = () => {
    if (open) blocks.push(...blocksOf(open.lines, page));
    open = undefined;
  };
  for (const line of linesOf(items.filter(isText))) {
    const last = open?.lines.at(-1);
    const isSame =
      last &&
      Math.abs(last.size - line.size) < last.size * 0.08 &&
      last.y - line.y < last.size * PARAGRAPH_GAP * (line.cells.length > 1 ? 1.5 : 1) &&
      last.y > line.y;
    if (!isSame) flush();
    open ??= { lines: [] };
    open.lines.push(line);
  }
  flush();
  return blocks;
}

function linesOf(items: readonly PdfText[]): Line[] {
  const lines: Line[] = [];
  let open: { y: number; size: number; cells: string[]; end: number } | undefined;
  for (const { str, transform, width, height } of items) {
    if (str.trim() === "") continue;
    const [a = 0, b = 0, , , x = 0, y = 0] = transform;
    const size = Math.hypot(a, b) || height || 1;
    if (!open || Math.abs(open.y - y) > Math.min(open.size, size) * 0.5 || x < open.end - size * 2) {
      open = { y, size, cells: [str], end: x + width };
      lines.push(open);
      continue;
    }
    const gap = x - open.end;
    if (gap > size * CELL_GAP) open.cells.push(str);
    else open.cells.push(`${open.cells.pop() ?? ""}${gap > size * 0.15 ? " " : ""}${str}`);
    open.size = Math.max(open.size, size);
    open.end = x + width;
  }
  return lines;
}

/**
 * Makes blocks of adjacent lines: two or more lines with the same number of cells become a table, other lines a
 * paragraph.
 */
function blocksOf(lines: readonly Line[], page: number): PdfBlock[] {
  const blocks: PdfBlock[] = [];
  const add = (some: readonly Line[], text: string) => {
    const [first] = some;
    if (first && text !== "") blocks.push({ text, page, y: first.y, size: first.size });
  };
  for (let at = 0; at < lines.length; ) {
    const width = lines[at]!.cells.length;
    let end = at + 1;
    while (end < lines.length && (width > 1 ? lines[end]!.cells.length === width : lines[end]!.cells.length === 1))
      end++;
    const some = lines.slice(at, end);
    if (width > 1 && some.length > 1) add(some, tableText(some.map(({ cells }) => cells.map(tidy))));
    else add(some, joinLines(some.map(({ cells }) => tidy(cells.join("  ")))));
    at = end;
  }
  return blocks;
}

/** Joins lines into one text. A word that was hyphenated at the end of a line becomes whole again. */
const joinLines = (lines: readonly string[]): string =>
  lines.reduce((text, line) => {
    if (text === "") return line;
    return /\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line) ? text.slice(0, -1) + line : `${text} ${line}`;
  }, "");
