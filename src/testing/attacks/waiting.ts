/** Helpers that wait for what no event reports. */
import { expect } from "bun:test";

/** Checks every 50 ms. @throws Error that names `what` after 240 s. */
export async function waitFor(ready: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const until = performance.now() + 240_000;
  while (!(await ready())) {
    if (performance.now() > until) throw new Error(`waited 240 s for ${what}, which did not happen`);
    await Bun.sleep(50);
  }
}

/**
 * Reads every 50 ms until `isDone` accepts the value, for at most 240 s. @returns the last value, for `expect` to show.
 */
export async function readUntil<T>(read: () => Promise<T>, isDone: (now: T) => boolean): Promise<T> {
  const until = performance.now() + 240_000;
  for (;;) {
    const now = await read();
    if (isDone(now) || performance.now() > until) return now;
    await Bun.sleep(50);
  }
}

/**
 * Reads every 50 ms until the value equals `wanted`, for at most 240 s. @throws the error of `expect` for the last
 * value.
 */
export async function becomes<T>(read: () => Promise<T>, wanted: Awaited<T>): Promise<void> {
  const last: Awaited<T> = await readUntil(read, (now) => Bun.deepEquals(now, wanted));
  expect(last).toEqual(wanted);
}
