import type { TextFolder } from "./text-folder.ts";

/**
 * Caches what `make` derives from files of a folder, by key. Inside a snapshot, `make` runs once per key until
 * something is written; outside, it runs every time. Callers share the result and must not change it.
 */
export function oncePerSnapshot<T>(folder: Pick<TextFolder, "moment">, make: (key: string) => T): (key: string) => T {
  const made = new WeakMap<object, Map<string, T>>();
  return (key) => {
    const moment = folder.moment();
    if (moment === undefined) return make(key);
    const known = made.get(moment) ?? new Map<string, T>();
    made.set(moment, known);
    const found = known.get(key) ?? make(key);
    known.set(key, found);
    return found;
  };
}
