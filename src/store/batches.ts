/** Processes added items in batches: `atOnce` items in parallel, one batch after another. */
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
    /** Resolves when all added items were processed. @throws the first failure since the last call. */
    async waitUntilDone(): Promise<void> {
      while (running) await running;
      const [failure] = failures;
      failures = [];
      if (failure !== undefined) throw failure;
    },
  };
}
