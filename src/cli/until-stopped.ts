/** Waits for Ctrl-C or the end that a service manager wants. @returns the signal. */
export const untilStopped = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
  });
