/** Single-key shortcuts of the page that is shown. They take precedence over the global ones. */
import { useLayoutEffect } from "react";

type Keys = Record<string, () => void>;
const shown = new Set<Keys>();

/** @param keys the same object on each render. */
export function usePageKeys(keys: Keys): void {
  // A layout effect runs before the page is painted, so that a key pressed at the first sight of the page counts.
  useLayoutEffect(() => {
    shown.add(keys);
    return () => void shown.delete(keys);
  }, [keys]);
}

/** The key's action on this page, if it has one. */
export const pageKey = (key: string): (() => void) | undefined => [...shown].findLast((keys) => keys[key])?.[key];
