/** Many rows that come together are drawn a slice in each frame, so that keys and scrolling come in between. */
import { startTransition, useEffect, useState } from "react";

/** Rows that are drawn at once, and rows that each further slice adds. */
interface Sizes {
  first: number;
  slice: number;
}
const ROWS: Sizes = { first: 12, slice: 20 };

/** @returns the rows that are drawn now; all of them some frames later. */
export function useSlices<T>(rows: T[], { first, slice }: Sizes = ROWS): T[] {
  const [many, setMany] = useState(first);
  useEffect(() => {
    // A list that became shorter begins with its first rows again when it grows.
    const most = Math.max(first, rows.length);
    if (many > most) setMany(most);
    if (many >= most) return;
    const frame = requestAnimationFrame(() => startTransition(() => setMany(Math.min(many + slice, most))));
    return () => cancelAnimationFrame(frame);
  }, [many, rows.length, first, slice]);
  return many < rows.length ? rows.slice(0, many) : rows;
}
