/** Finds lines of a unified diff by their numbers. */

export interface DiffLine {
  /** Text of the line without the mark before it; null when it is unknown. */
  quote: string | null;
}

/** The line with that number on that side, if a hunk shows it. */
export function lineIn(
  hunks: readonly { header: string; lines: readonly string[] }[],
  wanted: number,
  side: "new" | "old",
): DiffLine | undefined {
  for (const { header, lines } of hunks) {
    const [, old, now] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header) ?? [];
    if (old === undefined || now === undefined) continue;
    let at = Number(side === "new" ? now : old);
    const other = side === "new" ? "-" : "+";
    for (const line of lines) {
      if (line[0] === other || line[0] === "\\") continue;
      if (at === wanted) return { quote: line.slice(1) };
      at += 1;
    }
  }
  return undefined;
}
