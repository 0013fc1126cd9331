import { setTimeout as sleep } from "node:timers/promises";

/** Waits for `ms` milliseconds. @throws the signal's reason. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
}
