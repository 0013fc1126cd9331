/** Single keys of the page that is shown; they take precedence over the global ones. */
import { useLayoutEffect } from "react";

type Keys = Record<string, () => void>;
const shown = new Set<Keys>();

/** @param keys the same object each time. */
export function usePageKeys(keys: Keys): void {
  // Before the page is painted: a key that is pressed at the first sight of it counts.
  useLayoutEffect(() => {
    shown.add(keys);
    return () => void shown.delete(keys);
  }, [keys]);
}

/** The key's action on this page, if any. */
export const pageKey = (key: string): (() => void) | undefined => [...shown].findLast((keys) => keys[key])?.[key];
