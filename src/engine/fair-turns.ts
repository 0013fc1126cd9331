/**
 * Executions take turns on the one thread: each continues in a round of the event loop of its own, so that a hundred that
 * become ready together do not keep requests and streams waiting for all of them. Not a `PQueue`: what counts is the round
 * of the loop between two turns, not how many run at once.
 */

/** Resolves when it is the caller's turn; first come, first served. */
export function createFairTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((go) => setImmediate(go)));
    return last;
  };
}
