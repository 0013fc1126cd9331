/** Waiting for what no event tells. */

/** Asks every 50 ms. @throws Error naming `what` after 30 s. */
export async function waitFor(ready: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const until = performance.now() + 30_000;
  while (!(await ready())) {
    if (performance.now() > until) throw new Error(`waited 30 s in vain for ${what}`);
    await Bun.sleep(50);
  }
}
