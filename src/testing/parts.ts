/**
 * Parts that some tests need and not every machine has. A test that is skipped for want of one says so in a line that
 * `scripts/test` shows beside its title; with `CI=true` it counts a skipped test as a failure.
 */

/** Whether the part is missing, for `skipIf`; if so, writes why. @param part what is missing, as people call it. */
export function lacks(part: string, isThere: boolean): boolean {
  if (!isThere) console.warn(`skipped: no ${part} here`);
  return !isThere;
}

/** Whether the tests run as root. */
export const isRoot = process.getuid?.() === 0;
