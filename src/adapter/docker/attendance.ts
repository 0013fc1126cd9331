/**
 * An engine that is frozen (stopped, out of memory, on a disk that hangs) still accepts connections and never answers. A
 * call to it would wait forever: the client library has no time-out for it, and a slow call may rightly take minutes.
 * So what is waited for is given up when the engine does not answer pings either.
 */

import { raceSignal } from "../../core/race-signal.ts";

/**
 * Runs a call; rejects with the failure of the ping once the engine has missed `MISSES` in a row meanwhile. `givenUp`
 * is aborted then. The call itself may go on when the engine answers at last: what it would still do has to look there.
 */
export type Attend = <T>(call: (givenUp: AbortSignal) => Promise<T>) => Promise<T>;

export interface Patience {
  /** How often the engine is pinged while a call waits for it. */
  everyMs: number;
  /** How long a ping may take. */
  pingMs: number;
}

export const PATIENCE: Patience = { everyMs: 5_000, pingMs: 3_000 };
const MISSES = 3;

/** @param ping rejects when the engine does not answer it in time. */
export function createAttendance(ping: () => Promise<void>, everyMs: number): Attend {
  const waiting = new Set<AbortController>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let misses = 0;
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    const watch = timer;
    try {
      await ping();
      misses = 0;
    } catch (error) {
      // A ping that outlasts the calls it was sent for says nothing about the next one.
      if (timer !== watch) return;
      misses += 1;
      if (misses >= MISSES) for (const giveUp of waiting) giveUp.abort(error);
    } finally {
      looking = false;
    }
  };
  return async (call) => {
    const giveUp = new AbortController();
    waiting.add(giveUp);
    timer ??= setInterval(look, everyMs);
    try {
      return await raceSignal(call(giveUp.signal), giveUp.signal);
    } finally {
      waiting.delete(giveUp);
      if (waiting.size === 0) {
        clearInterval(timer);
        timer = undefined;
        misses = 0;
      }
    }
  };
}
