/**
 * Helpers for what the standard library's types do not express: that an object's keys, or the words of a list, are
 * known.
 */

/** @param value an object with exactly the keys of its type, such as a literal in the code. */
export const keysOf = <K extends string>(value: Readonly<Record<K, unknown>>) => Object.keys(value) as K[];

/** @param value as for `keysOf`. */
export const entriesOf = <K extends string, V>(value: Readonly<Partial<Record<K, V>>>) =>
  Object.entries(value) as [K, V][];

/** An object with a value for each of the keys. */
export const recordOf = <K extends string, V>(keys: readonly K[], of: (key: K) => V) =>
  Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>;

/** Only the members with these names. */
export function pick<T extends object, K extends keyof T & string>(value: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) picked[key] = value[key];
  return picked as Pick<T, K>;
}

export function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  const all: readonly unknown[] = words;
  return all.includes(value);
}
