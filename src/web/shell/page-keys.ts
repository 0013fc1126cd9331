/** Single keys that mean something on the page that is shown; they go before those of everywhere. */
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

/** What the key does on this page, if anything. */
export const pageKey = (key: string): (() => void) | undefined => [...shown].findLast((keys) => keys[key])?.[key];
