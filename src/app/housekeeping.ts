/** Runs duties on a timer: each soon after the start and then at its interval, never twice at the same time. */
import type { Logger } from "../core/log.ts";
import type { Duty } from "../feature/feature.ts";

/** The first round waits, in ms, until the server has started. */
const FIRST_MS = 2_000;
/** Time between two duties, in ms, so that requests get their turn; it also separates them in later rounds. */
const APART_MS = 50;

/** A duty's error is logged, and the duty runs again at its next time. */
export function createHousekeeping(log: Logger, duties: readonly Duty[]) {
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
  const keep = (timer: ReturnType<typeof setTimeout>): void => {
    timer.unref();
    timers.add(timer);
  };
  for (const [at, duty] of duties.entries())
    keep(
      setTimeout(
        () => {
          begin(duty);
          keep(setInterval(() => begin(duty), duty.everyMs));
        },
        FIRST_MS + at * APART_MS,
      ),
    );

  return {
    /** Starts no further duties; aborts the running ones and waits for them. */
    async stop(): Promise<void> {
      stopped.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(underWay.values());
    },
  };
}
