/** A line of code with its colors and with marks on its changed words. */
import { memo } from "react";
import { escapeUnseen } from "../visible.ts";
import type { Piece } from "./color.ts";
import type { Range } from "./words.ts";

interface Props {
  text: string;
  colors?: readonly Piece[] | undefined;
  /** Ranges that are marked as changed. */
  marks?: readonly Range[] | undefined;
  /** CSS class of the marks. */
  mark?: string;
}

/**
 * Text outside of an element must be made visible here, because the JSX runtime does that only for children of
 * elements.
 */
export const Pieces = memo(function Pieces({ text, colors = [], marks = [], mark = "" }: Props) {
  if (colors.length === 0 && marks.length === 0) return escapeUnseen(text);
  const edges = new Set([0, text.length]);
  for (const [from, to] of [...colors, ...marks]) edges.add(Math.min(from, text.length)).add(Math.min(to, text.length));
  const cuts = [...edges].sort((a, b) => a - b);
  let color = 0;
  let marked = 0;
  return cuts.slice(0, -1).map((from, index) => {
    while ((colors[color]?.[1] ?? text.length) <= from && color < colors.length) color++;
    while ((marks[marked]?.[1] ?? text.length) <= from && marked < marks.length) marked++;
    const [piece, range] = [colors[color], marks[marked]];
    const name = piece && piece[0] <= from ? `tok-${piece[2]}` : "";
    const style = `${name} ${range && range[0] <= from ? mark : ""}`.trim();
    const part = text.slice(from, cuts[index + 1]);
    return style === "" ? (
      escapeUnseen(part)
    ) : (
      <span key={from} className={style}>
        {part}
      </span>
    );
  });
});
