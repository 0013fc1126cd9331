import { setTimeout as sleep } from "node:timers/promises";

/** Waits so long. @throws what the signal aborts with. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
}
