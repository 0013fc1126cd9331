/** Single keys of the page that is shown; they take precedence over the global ones. */
import { useEffect } from "react";

type Keys = Record<string, () => void>;
const shown = new Set<Keys>();

/** @param keys the same object each time. */
export function usePageKeys(keys: Keys): void {
  useEffect(() => {
    shown.add(keys);
    return () => void shown.delete(keys);
  }, [keys]);
}

/** The key's action on this page, if any. */
export const pageKey = (key: string): (() => void) | undefined => [...shown].findLast((keys) => keys[key])?.[key];
