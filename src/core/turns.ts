/** How long a stretch of work goes on without a pause. */
const TURN_MS = 4;

/** To be awaited between steps: pauses when a turn has been long enough, so that everything that waits has its own. */
export function takeTurns(): () => Promise<void> | void {
  let until = performance.now() + TURN_MS;
  return () => {
    if (performance.now() < until) return;
    return new Promise((resolve) => {
      setImmediate(() => {
        until = performance.now() + TURN_MS;
        resolve();
      });
    });
  };
}
