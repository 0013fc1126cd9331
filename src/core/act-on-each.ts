/**
 * Acts on items one after another, such as rows that a start continues. An item that fails does not stop the others.
 */
import { messageOf } from "./errors.ts";

/** Some items failed; the others succeeded. `cause` is the first error. */
export class SomeFailed extends Error {
  override readonly name = "SomeFailed";
}

/** @returns the error to throw once all items were tried; undefined when none failed. */
export function failuresOf<T>(items: readonly T[], act: (item: T) => unknown): SomeFailed | undefined {
  const errors: unknown[] = [];
  for (const item of items)
    try {
      act(item);
    } catch (error) {
      errors.push(error);
    }
  if (errors.length === 0) return undefined;
  const [first] = errors;
  return new SomeFailed(`${errors.length} of ${items.length} failed; the first: ${messageOf(first)}`, { cause: first });
}

/** @throws SomeFailed once all items were tried, if `act` threw for any of them. */
export function actOnEach<T>(items: readonly T[], act: (item: T) => unknown): void {
  const failed = failuresOf(items, act);
  if (failed) throw failed;
}
