/** Lines that stay around what differs. */
const CONTEXT = 3;

/**
 * Two versions of a text, without the lines that both begin and end with: in long texts nobody would find what differs.
 * A line says how many were left out.
 */
export function differingLines(one: string, other: string): [string, string] {
  const [a, b] = [one.split("\n"), other.split("\n")];
  const shorter = Math.min(a.length, b.length);
  let begin = 0;
  while (begin < shorter && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const between = (lines: string[]): string =>
    [
      ...leftOut(begin - CONTEXT),
      ...lines.slice(Math.max(0, begin - CONTEXT), lines.length - Math.max(0, end - CONTEXT)),
      ...leftOut(end - CONTEXT),
    ].join("\n");
  return [between(a), between(b)];
}

const leftOut = (lines: number): string[] =>
  lines > 0 ? [`… ${lines} ${lines === 1 ? "line" : "lines"} alike …`] : [];
