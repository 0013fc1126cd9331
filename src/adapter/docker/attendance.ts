/**
 * An engine that is frozen (stopped, out of memory, on a disk that hangs) still accepts connections and never answers. A
 * call to it would wait forever: the client library has no time-out for it, and a slow call may rightly take minutes.
 * So what is waited for is given up when the engine does not answer pings either.
 */

/** Runs a call; rejects with the failure of the ping once the engine has missed `MISSES` in a row meanwhile. */
export type Attend = <T>(call: () => Promise<T>) => Promise<T>;

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
  const waiting = new Set<(reason: unknown) => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let misses = 0;
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      await ping();
      misses = 0;
    } catch (error) {
      misses += 1;
      if (misses >= MISSES) for (const giveUp of waiting) giveUp(error);
    } finally {
      looking = false;
    }
  };
  return async (call) => {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    waiting.add(reject);
    timer ??= setInterval(look, everyMs);
    try {
      return await Promise.race([call(), givenUp]);
    } finally {
      waiting.delete(reject);
      if (waiting.size === 0) {
        clearInterval(timer);
        timer = undefined;
        misses = 0;
      }
    }
  };
}
