import { actOnce } from "./signal-action.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Waits for SIGINT or SIGTERM. The next signal has its default action again: it ends the process at once. So does the
 * second of the same name when the first was never handled because the loop is stuck.
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
