/** The file changes that a tool call reports, as lines for a terminal. */
import { paint, stripControls } from "../terminal/style.ts";

const LINES = 40;

/** @returns the unified diff in a call's output, cut to a maximum size; undefined if there is none. */
export function callDiff(output: string): string | undefined {
  const lines = stripControls(output).split("\n");
  const hasSign = (at: number, sign: string): boolean => lines[at]?.startsWith(sign) ?? false;
  const first = lines.findIndex((_, at) => hasSign(at, "--- ") && hasSign(at + 1, "+++ ") && hasSign(at + 2, "@@ "));
  if (first === -1) return undefined;
  const length = lines.slice(first).findIndex((line) => !/^(?:[-+ \\]|@@ )/.test(line));
  const diff = lines.slice(first, length === -1 ? undefined : first + length);
  const more = diff.length - LINES;
  const shown = diff.slice(0, LINES).map((line) => `    ${colorLine(line)}`);
  return [...shown, ...(more > 0 ? [paint("dim", `    … ${more} more lines`)] : [])].join("\n");
}

function colorLine(line: string): string {
  if (/^(?:--- |\+\+\+ |@@ )/.test(line)) return paint("dim", line);
  return paint(line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : undefined, line);
}
