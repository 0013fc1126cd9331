/** What it gives, or undefined where it throws: for what may be missing or damaged, when it does not matter why. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
