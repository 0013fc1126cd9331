import PQueue from "p-queue";

/** Work on one project's repository, one after another. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs work of one key one after another, in order of arrival. */
export function createTurns(): Turns {
  const queues = new Map<string, PQueue>();
  return (key, work) => {
    let queue = queues.get(key);
    if (!queue) {
      queue = new PQueue({ concurrency: 1 });
      queue.once("idle", () => queues.delete(key));
      queues.set(key, queue);
    }
    return queue.add(work);
  };
}
