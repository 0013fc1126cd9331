/**
 * Gives up calls to a frozen engine. An engine that is stopped, out of memory or on a hanging disk still accepts
 * connections but never answers. A call to it would wait forever, since the client library has no time-out for that,
 * and a slow call may rightly take minutes.
 * So while calls wait, the engine is pinged; when it does not answer the pings either, the calls fail.
 */

import { raceSignal } from "../../core/race-signal.ts";

/**
 * Runs a call. Rejects with the ping's failure once the engine has missed `MISSES` pings in a row during the call;
 * `givenUp` is aborted then.
 * The call itself may continue if the engine answers later, so it must check `givenUp` before it does anything further.
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
      // All calls that this ping was sent for have ended, so its failure must not count against later calls.
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
