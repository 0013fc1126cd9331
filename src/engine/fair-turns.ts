/**
 * Lets executions take turns on the single thread: each continues in its own round of the event loop. A hundred
 * executions that become ready together then do not hold up requests and streams. A `PQueue` limits how many run at
 * once; here what matters is a round of the event loop between two turns.
 */

/** Resolves when it is the caller's turn; first come, first served. */
export function createFairTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((go) => setImmediate(go)));
    return last;
  };
}
