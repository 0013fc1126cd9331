/** Waiting for what no event reports. */
import { expect } from "bun:test";

/** Asks every 50 ms. @throws Error naming `what` after 240 s. */
export async function waitFor(ready: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const until = performance.now() + 240_000;
  while (!(await ready())) {
    if (performance.now() > until) throw new Error(`waited 240 s for ${what}, which did not happen`);
    await Bun.sleep(50);
  }
}

/** Reads every 50 ms until `isDone` accepts the value, 240 s at most. @returns the last value, for `expect` to name. */
export async function readUntil<T>(read: () => Promise<T>, isDone: (now: T) => boolean): Promise<T> {
  const until = performance.now() + 240_000;
  for (;;) {
    const now = await read();
    if (isDone(now) || performance.now() > until) return now;
    await Bun.sleep(50);
  }
}

/** Reads every 50 ms until it reads `wanted`, 240 s at most. @throws what `expect` says of the last value. */
export async function becomes<T>(read: () => Promise<T>, wanted: Awaited<T>): Promise<void> {
  const last: Awaited<T> = await readUntil(read, (now) => Bun.deepEquals(now, wanted));
  expect(last).toEqual(wanted);
}
