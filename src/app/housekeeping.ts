/** Work done on a timer: each duty soon after the start and then at its interval, never twice at once. */
import type { Logger } from "../core/log.ts";
import type { Duty } from "../feature/feature.ts";

export interface Housekeeping {
  /** Starts nothing more; aborts what is under way and waits for it. */
  stop(): Promise<void>;
}

/** The first round waits until the server has started. */
const FIRST_MS = 2_000;

/** What a duty throws is logged and it is tried again at its next time. */
export function createHousekeeping(log: Logger, duties: readonly Duty[]): Housekeeping {
  const stopped = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();

  const perform = async ({ name, run }: Duty): Promise<void> => {
    try {
      await run(stopped.signal);
    } catch (error) {
      if (!stopped.signal.aborted) log.warn({ err: error, duty: name }, "a duty failed and is tried again later");
    } finally {
      underWay.delete(name);
    }
  };
  const begin = (duty: Duty): void => {
    if (stopped.signal.aborted || underWay.has(duty.name)) return;
    underWay.set(
      duty.name,
      Promise.resolve().then(() => perform(duty)),
    );
  };
  const first = setTimeout(() => {
    for (const duty of duties) {
      begin(duty);
      const timer = setInterval(() => begin(duty), duty.everyMs);
      timer.unref();
      timers.add(timer);
    }
  }, FIRST_MS);
  first.unref();
  timers.add(first);

  return {
    async stop() {
      stopped.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(underWay.values());
    },
  };
}
