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

/** Reads every 50 ms until it reads `wanted`, for 60 s at most. @throws what `expect` says of the last reading. */
export async function becomes<T>(read: () => Promise<T>, wanted: Awaited<T>): Promise<void> {
  const until = performance.now() + 60_000;
  for (;;) {
    const now: Awaited<T> = await read();
    if (Bun.deepEquals(now, wanted) || performance.now() > until) return void expect(now).toEqual(wanted);
    await Bun.sleep(50);
  }
}
