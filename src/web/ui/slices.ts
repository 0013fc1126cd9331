/** Renders many new rows in slices, one per frame, so that keys and scrolling are not blocked. */
import { startTransition, useEffect, useState } from "react";

/** How many rows are rendered at first, and how many each further slice adds. */
interface Sizes {
  first: number;
  slice: number;
}
const ROWS: Sizes = { first: 12, slice: 20 };

/** @returns the rows to render now; all rows after some frames. */
export function useSlices<T>(rows: T[], { first, slice }: Sizes = ROWS): T[] {
  const [many, setMany] = useState(first);
  useEffect(() => {
    // A list that became shorter starts with its first rows again when it grows.
    const most = Math.max(first, rows.length);
    if (many > most) setMany(most);
    if (many >= most) return;
    const frame = requestAnimationFrame(() => startTransition(() => setMany(Math.min(many + slice, most))));
    return () => cancelAnimationFrame(frame);
  }, [many, rows.length, first, slice]);
  return many < rows.length ? rows.slice(0, many) : rows;
}
