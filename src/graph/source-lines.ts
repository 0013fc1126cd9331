/** Lines of a file of the repository, for answers that show code. */
import { readFileSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { MAX_FILE_BYTES } from "./walk.ts";

/** Characters that are shown at most. */
const MAX_SHOWN = 64_000;

/**
 * @param from first line, counted from 1
 * @param to last line
 * @returns "" when the file cannot be read, is larger than what is indexed, or lies outside the root
 */
export function sourceLines(root: string, path: string, from: number, to: number): string {
  const full = resolve(root, path);
  if (relative(root, full).startsWith("..")) return "";
  try {
    if (statSync(full).size > MAX_FILE_BYTES) return "";
    const text = readFileSync(full, "utf8");
    const start = afterLines(text, 0, from - 1);
    const end = start < 0 ? -1 : afterLines(text, start, to - from + 1);
    if (start < 0) return "";
    return text.slice(start, Math.min(end < 0 ? text.length : end - 1, start + MAX_SHOWN));
  } catch {
    return "";
  }
}

/** Where the text goes on after so many lines; -1 when it has fewer line ends. */
function afterLines(text: string, start: number, count: number): number {
  let at = start;
  for (let line = 0; line < count; line++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return -1;
    at = end + 1;
  }
  return at;
}
