/** Runs an action once for all callers, also concurrent ones. After a failure, the next caller tries again. */
export function memoizeAsync<T>(act: () => Promise<T>) {
  let running: Promise<T> | undefined;
  /** Makes the next call run the action again. */
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
