/** Bounds of time for tests, on machines that do other work as well. */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/**
 * Programs that want a processor, for each processor, and never less than 1: the mean of the last minute, or what
 * wants one now, as the mean lags behind work that has just begun.
 */
export function busyFactor(): number {
  let now = 0;
  try {
    now = Number(readFileSync("/proc/loadavg", "utf8").split(" ")[3]!.split("/")[0]);
  } catch {
    // Only Linux says it.
  }
  return Math.max(1, Math.max(loadavg()[0]!, now) / availableParallelism());
}

/** The bound of an idle machine, as many times as there are programs for each processor. */
export const msWhenBusy = (ms: number): number => ms * busyFactor();

/**
 * What ends at a limit of time, which a busy machine may reach before it got to what the test is about: with twice the
 * limit again and again, until it got there.
 * @param ms the first limit.
 */
export async function endedAtLimit<T>(ms: number, run: (ms: number) => Promise<T>, gotThere: (result: T) => boolean) {
  for (let limit = ms; ; limit *= 2) {
    const result = await run(limit);
    if (gotThere(result) || limit > 60_000) return result;
  }
}

const DAY_MS = 86_400_000;

/** Waits for the next day (UTC) when this one has less than half a minute left: for tests of what counts by the day. */
export async function steadyDay(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 30_000) await Bun.sleep(left + 50);
}

/** Processor time of this process so far, in ms: what others do on the machine does not count. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
