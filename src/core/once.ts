interface Once<T> {
  (): Promise<T>;
  /** The next call does it again. */
  forget(): void;
}

/** Does something once, for all callers at once; a failure is tried again by the next caller. */
export function once<T>(act: () => Promise<T>): Once<T> {
  let running: Promise<T> | undefined;
  const forget = () => {
    running = undefined;
  };
  const call = () => {
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
