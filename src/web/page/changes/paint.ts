/** Highlights a file's change: colors for its language, and marks on the words that changed within a line. */
import { useEffect, useMemo, useState } from "react";
import { colorLines, type Piece } from "../../ui/code/color.ts";
import { languageOf } from "../../ui/code/languages.ts";
import { changedWords, type Range } from "../../ui/code/words.ts";
import { type HunkLines, type Line, sideBySide } from "./lines.ts";

export interface Paint {
  colors(line: Line): readonly Piece[] | undefined;
  marks(line: Line): readonly Range[] | undefined;
}

/** How many pairs of lines of one file are compared word by word. */
const MOST_PAIRS = 500;

function marksOf(hunks: readonly HunkLines[]): Map<Line, Range[]> {
  const marks = new Map<Line, Range[]>();
  let pairs = 0;
  for (const [left, right] of hunks.flatMap(({ lines }) => sideBySide(lines))) {
    if (left?.kind !== "gone" || right?.kind !== "new" || ++pairs > MOST_PAIRS) continue;
    const words = changedWords(left.text, right.text);
    if (!words) continue;
    marks.set(left, words.before);
    marks.set(right, words.after);
  }
  return marks;
}

/** Colors both sides of each hunk. If `signal` aborts, returns what was colored until then. */
async function colorsOf(path: string, hunks: readonly HunkLines[], signal: AbortSignal): Promise<Map<Line, Piece[]>> {
  const colors = new Map<Line, Piece[]>();
  const language = await languageOf(path)?.();
  if (!language) return colors;
  for (const { lines } of hunks)
    for (const side of ["gone", "new"] as const) {
      const ofSide = lines.filter(({ kind }) => kind === "same" || kind === side);
      const texts = ofSide.map(({ text }) => text);
      for (const [at, pieces] of (await colorLines(language, texts, signal)).entries()) colors.set(ofSide[at]!, pieces);
    }
  return colors;
}

const NONE = new Map<Line, Piece[]>();

export function usePaint(path: string, hunks: readonly HunkLines[]): Paint {
  const [colors, setColors] = useState(NONE);
  useEffect(() => {
    const stopped = new AbortController();
    // The code can be read without colors, so errors are ignored.
    colorsOf(path, hunks, stopped.signal).then(
      (found) => stopped.signal.aborted || setColors(found),
      () => {},
    );
    return () => stopped.abort();
  }, [path, hunks]);
  const marks = useMemo(() => marksOf(hunks), [hunks]);
  return { colors: (line) => colors.get(line), marks: (line) => marks.get(line) };
}
