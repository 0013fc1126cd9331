import { actOnce } from "./signal-action.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Waits for SIGINT or SIGTERM. After that, both have their default action again, so the next signal ends the process at
 * once. If the event loop is stuck, so that the first signal was never handled, a second signal of the same name ends
 * it as well.
 * @returns the signal.
 */
export const untilStopped = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    const stop = (name: NodeJS.Signals) => {
      for (const one of SIGNALS) process.off(one, stop);
      resolve(name);
    };
    for (const name of SIGNALS) process.on(name, stop);
    for (const name of SIGNALS) actOnce(name);
  });
