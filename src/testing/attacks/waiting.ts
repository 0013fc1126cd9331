/** Waiting for what no event reports. */

/** Asks every 50 ms. @throws Error naming `what` after 240 s. */
export async function waitFor(ready: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const until = performance.now() + 240_000;
  while (!(await ready())) {
    if (performance.now() > until) throw new Error(`waited 240 s for ${what}, which did not happen`);
    await Bun.sleep(50);
  }
}
