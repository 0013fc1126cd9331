/**
 * One timer for everything that is due at some time. Each source says when it is next due; the clockwork sleeps until
 * the earliest of these times and then runs the sources that are due. Nothing is polled in between.
 */
import type { Clock } from "./clock.ts";

interface DueSource {
  name: string;
  /**
   * When the source is next due, ms since the epoch; null when nothing is waiting. Asked after each change and each
   * run.
   */
  nextAt(): number | null;
  /**
   * Does what is due, for a few milliseconds at most. If work is left, it calls `again` to continue once others had
   * their turn.
   */
  run(again: () => void): void;
}

export type Clockwork = ReturnType<typeof createClockwork>;

/** The longest sleep, in ms. The machine's clock may be set, or the machine may have been suspended. */
const LONGEST_MS = 60_000;
const AGAIN_MS = 1_000;

/** @param onError receives what a source threw; the source is asked again a second later. */
export function createClockwork(clock: Clock, onError: (error: unknown, source: string) => void) {
  const dues = new Map<DueSource, number | null>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;
  let started = false;

  function ask(source: DueSource): void {
    try {
      dues.set(source, source.nextAt());
    } catch (error) {
      onError(error, source.name);
      dues.set(source, clock.now() + AGAIN_MS);
    }
  }
  function sleepUntil(at: number): void {
    clearTimeout(timer);
    const wait = Math.max(0, Math.min(at - clock.now(), LONGEST_MS));
    wakesAt = clock.now() + wait;
    timer = setTimeout(wake, wait);
    timer.unref();
  }
  function run(source: DueSource): void {
    let isLeft = false;
    try {
      source.run(() => {
        isLeft = true;
      });
    } catch (error) {
      onError(error, source.name);
    }
    ask(source);
    // A source that is still due waits for something other than time, or failed: it is tried again in a second.
    const due = dues.get(source) ?? null;
    if (!isLeft && due !== null && due <= clock.now()) dues.set(source, clock.now() + AGAIN_MS);
  }
  function wake(): void {
    for (const [source, due] of dues) {
      if (due !== null && due <= clock.now()) run(source);
      else ask(source);
    }
    if (started) sleepUntil(Math.min(...[...dues.values()].map((due) => due ?? Number.POSITIVE_INFINITY)));
  }
  return {
    /** @returns a function to call when the source's next time may have become earlier. */
    add(source: DueSource): () => void {
      dues.set(source, null);
      if (started) wake();
      return () => {
        if (!started) return;
        ask(source);
        const due = dues.get(source) ?? null;
        if (due !== null && due < wakesAt) sleepUntil(due);
      };
    },
    /** Starts asking the sources. Before this, changes have no effect. */
    start(): void {
      started = true;
      wake();
    },
    stop(): void {
      started = false;
      clearTimeout(timer);
    },
  };
}
