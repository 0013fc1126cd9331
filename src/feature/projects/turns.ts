/** Work on one project's repository, one after another. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs work of one key one after another, in order of arrival. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => {});
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return mine;
  };
}
