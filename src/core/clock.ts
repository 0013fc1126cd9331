/** Time as an argument, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch; may go backwards when the machine's clock is set. */
  now(): number;
  /** Milliseconds that never go backwards; for durations and leases of this process. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_SECONDS = DAY_MS / 1_000;

/** RFC 3339, UTC, milliseconds. */
export const toTimestamp = (ms: number): string => new Date(ms).toISOString();

/**
 * Time between two timestamps, ms. Never negative: the machine's clock may have been set back between them, and then how long it took is
 * not known.
 */
export const msBetween = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));
