/** A file's change as numbered lines, unified or side by side. */
import type { Schemas } from "../../api/client.ts";

export type FileChange = Schemas["Diff"]["items"][number];

export interface Line {
  kind: "same" | "gone" | "new" | "note";
  text: string;
  /** Line numbers before and after, from 1; null on the side where the line does not exist. */
  before: number | null;
  after: number | null;
}

export interface HunkLines {
  header: string;
  lines: Line[];
}

export function numberLines({ header, lines }: FileChange["hunks"][number]): HunkLines {
  const [, from = "1", to = "1"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header) ?? [];
  let [before, after] = [Number(from), Number(to)];
  return {
    header,
    lines: lines.map((line): Line => {
      const text = line.slice(1);
      if (line.startsWith("+")) return { kind: "new", text, before: null, after: after++ };
      if (line.startsWith("-")) return { kind: "gone", text, before: before++, after: null };
      if (line.startsWith("\\")) return { kind: "note", text: text.trim(), before: null, after: null };
      return { kind: "same", text, before: before++, after: after++ };
    }),
  };
}

/** Pairs for two columns: removed lines beside the lines that replaced them. */
export function sideBySide(lines: Line[]): [Line | null, Line | null][] {
  const pairs: [Line | null, Line | null][] = [];
  let gone: Line[] = [];
  let fresh: Line[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, fresh.length); at++) pairs.push([gone[at] ?? null, fresh[at] ?? null]);
    [gone, fresh] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === "gone") {
      if (fresh.length > 0) flush();
      gone.push(line);
    } else if (line.kind === "new") fresh.push(line);
    else {
      flush();
      pairs.push([line, line]);
    }
  }
  flush();
  return pairs;
}

/** The number of rows of a hunk shown side by side. @param lines as in the API, each with its mark. */
export function pairsIn(lines: readonly string[]): number {
  let [pairs, gone, fresh] = [0, 0, 0];
  const flush = () => {
    pairs += Math.max(gone, fresh);
    [gone, fresh] = [0, 0];
  };
  for (const line of lines) {
    if (line.startsWith("-")) {
      if (fresh > 0) flush();
      gone++;
    } else if (line.startsWith("+")) fresh++;
    else {
      flush();
      pairs++;
    }
  }
  flush();
  return pairs;
}

/** A file whose change has more lines than this is folded at first. */
const HUGE_LINES = 400;
const GENERATED =
  /(^|\/)(dist|build|vendor|node_modules|__snapshots__)\/|\.(min\.(js|css)|map|snap|lock)$|(^|\/)(package-lock\.json|pnpm-lock\.yaml|go\.sum|bun\.lockb?)$|\.gen\.\w+$/;

/** Why a file's change is folded at first; null if it is not. */
export function foldedBecause({ path, insertions, deletions, hunks }: FileChange): string | null {
  if (insertions === null) return "A binary file.";
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if (GENERATED.test(path)) return "Looks generated.";
  return lines > HUGE_LINES || (insertions ?? 0) + (deletions ?? 0) > HUGE_LINES ? "A large change." : null;
}

/** The key of a line within a file: `new 12`, `old 7`. */
export const lineKey = (line: Line): string => (line.after === null ? `old ${line.before}` : `new ${line.after}`);
