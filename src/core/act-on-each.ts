/** One item after another, such as rows that a start continues: one that fails does not keep the others from their turn. */
import { messageOf } from "./errors.ts";

/** Some items failed; the others were done. `cause` is the first error. */
export class SomeFailed extends Error {
  override readonly name = "SomeFailed";
}

/** @returns what to throw when every item had its turn; undefined when none failed. */
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

/** @throws SomeFailed once every item had its turn, if `act` threw for any. */
export function actOnEach<T>(items: readonly T[], act: (item: T) => unknown): void {
  const failed = failuresOf(items, act);
  if (failed) throw failed;
}
