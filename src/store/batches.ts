/** Works on what is added, some at once, one batch after another. */
export function inBatches<T>(work: (item: T) => Promise<void>, atOnce: number) {
  const queue: T[] = [];
  let [running, failures]: [Promise<void> | undefined, unknown[]] = [undefined, []];
  const run = async () => {
    while (queue.length > 0) {
      const ended = await Promise.allSettled(queue.splice(0, atOnce).map(work));
      failures.push(...ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : [])));
    }
    running = undefined;
  };
  return {
    add(item: T): void {
      queue.push(item);
      running ??= Promise.resolve().then(run);
    },
    /** Resolves when all that was added has been worked on. @throws the first failure since this was last asked. */
    async done(): Promise<void> {
      while (running) await running;
      const [failure] = failures;
      failures = [];
      if (failure !== undefined) throw failure;
    },
  };
}
