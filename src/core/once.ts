/** Does something once, for all callers at once; a failure is tried again by the next caller. */
export function once<T>(act: () => Promise<T>) {
  let running: Promise<T> | undefined;
  /** The next call does it again. */
  const forget = (): void => {
    running = undefined;
  };
  const call = (): Promise<T> => {
    if (running) return running;
    const own = act();
    running = own;
    own.catch(() => {
      if (running === own) forget();
    });
    return own;
  };
  return Object.assign(call, { forget });
}
