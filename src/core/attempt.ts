/**
 * Returns what `act` returns, or undefined when it throws. For data that may be missing or damaged when the reason does
 * not matter.
 */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
