import type { TextFolder } from "./text-folder.ts";

/**
 * What is made of files of a folder, by key: in a snapshot once for each key until something is written, outside of one
 * each time. Callers share what is made and do not change it.
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
