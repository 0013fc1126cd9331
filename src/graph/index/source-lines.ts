/** Lines of a file of the repository, for answers that show code. */
import { openSources } from "./source-files.ts";

/** At most this many characters are shown. */
const MAX_SHOWN = 64_000;

/**
 * @param from first line, counted from 1
 * @param to last line
 * @returns "" when the file cannot be read, is larger than what is indexed, or lies outside the root
 */
export function sourceLines(root: string, path: string, from: number, to: number): string {
  const text = textOf(root, path);
  if (text === undefined) return "";
  const start = afterLines(text, 0, from - 1);
  if (start < 0) return "";
  const end = afterLines(text, start, to - from + 1);
  return text.slice(start, Math.min(end < 0 ? text.length : end - 1, start + MAX_SHOWN));
}

function textOf(root: string, path: string): string | undefined {
  try {
    using sources = openSources(root);
    return sources.text(path);
  } catch {
    return undefined;
  }
}

/** Offset after a number of lines; -1 when the text has fewer. */
function afterLines(text: string, start: number, count: number): number {
  let at = start;
  for (let line = 0; line < count; line++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return -1;
    at = end + 1;
  }
  return at;
}
