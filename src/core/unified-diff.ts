/** Compares two texts as a unified diff, which both people and models can read. */

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/**
 * The most pairs of lines that are compared, because the table grows with both texts. Beyond it, the differing lines
 * become one change.
 */
const PAIRS = 60_000;
const PATH_CHARACTERS = 500;

interface Line {
  mark: " " | "-" | "+";
  text: string;
}

interface FileTexts {
  path: string;
  /** Undefined: the file is new. */
  before: string | undefined;
  after: string;
}

/** Line numbers refer to the two texts. Empty when nothing changes. */
export function unifiedDiff({ path, before, after }: FileTexts): string {
  const lines = compareLines(linesOf(before ?? ""), linesOf(after));
  const hunks = hunksOf(lines);
  if (hunks.length === 0) return "";
  // A path from outside must not add lines of its own.
  const shown = path.slice(0, PATH_CHARACTERS).replace(/[\x00-\x1f\x7f\u2028\u2029]/g, "?");
  const from = before === undefined ? "/dev/null" : shown;
  return [`--- ${from}`, `+++ ${shown}`, ...hunks].join("\n");
}

const linesOf = (text: string): string[] => {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
};

function compareLines(a: readonly string[], b: readonly string[]): Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = compareMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...mark(" ", a.slice(0, start)), ...middle, ...mark(" ", a.slice(a.length - end))];
}

const mark = (sign: Line["mark"], texts: readonly string[]): Line[] => texts.map((text) => ({ mark: sign, text }));

/** Compares lines by their longest common subsequence. */
function compareMiddle(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length * b.length > PAIRS) return [...mark("-", a), ...mark("+", b)];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  const readCell = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j] ? readCell(i + 1, j + 1) + 1 : Math.max(readCell(i + 1, j), readCell(i, j + 1));
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [text, other] = [a[i], b[j]];
    if (text !== undefined && text === other) {
      lines.push({ mark: " ", text });
      [i, j] = [i + 1, j + 1];
    } else if (text !== undefined && (other === undefined || readCell(i + 1, j) >= readCell(i, j + 1))) {
      lines.push({ mark: "-", text });
      i++;
    } else {
      lines.push({ mark: "+", text: other ?? "" });
      j++;
    }
  }
  return lines;
}

/** The changes with the lines around them, each hunk under its line numbers. */
function hunksOf(lines: readonly Line[]): string[] {
  const written: string[] = [];
  let [before, after] = [1, 1];
  let last = -1;
  for (let at = 0; at < lines.length; ) {
    const next = lines.findIndex(({ mark }, n) => n >= at && mark !== " ");
    if (next === -1) break;
    const from = Math.max(last + 1, next - CONTEXT);
    for (const { mark } of lines.slice(at, from)) [before, after] = step(mark, before, after);
    const to = endOfHunk(lines, next);
    const hunk = lines.slice(from, to);
    const [gone, fresh] = [hunk.filter(({ mark }) => mark !== "+"), hunk.filter(({ mark }) => mark !== "-")];
    written.push(`@@ -${rangeOf(before, gone.length)} +${rangeOf(after, fresh.length)} @@`);
    for (const { mark, text } of hunk) {
      written.push(`${mark}${text}`);
      [before, after] = step(mark, before, after);
    }
    at = to;
    last = to - 1;
  }
  return written;
}

const step = (mark: Line["mark"], before: number, after: number): [before: number, after: number] => [
  before + (mark === "+" ? 0 : 1),
  after + (mark === "-" ? 0 : 1),
];

const rangeOf = (from: number, count: number): string => `${count === 0 ? from - 1 : from},${count}`;

/** Index after the hunk: after the last change that is near enough to the one before, and after its context. */
function endOfHunk(lines: readonly Line[], first: number): number {
  let last = first;
  for (let at = first; at < lines.length && at <= last + 2 * CONTEXT; at++) if (lines[at]?.mark !== " ") last = at;
  return Math.min(lines.length, last + CONTEXT + 1);
}
