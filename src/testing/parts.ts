/**
 * Parts that some tests need and not every machine has. A test skipped for this reason says so in a line, which
 * `scripts/test` shows beside its title. With `CI=true`, a skipped test counts as a failure.
 */

/** Whether a part is missing, for `skipIf`; if so, it prints why. @param part what is missing, in words. */
export function lacks(part: string, isThere: boolean): boolean {
  if (!isThere) console.warn(`skipped: no ${part} here`);
  return !isThere;
}

/** Whether the tests run as root. */
export const isRoot = process.getuid?.() === 0;
