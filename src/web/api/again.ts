/**
 * Repeats a read that failed. When a network interface appears or disappears (Wi-Fi, a VPN, a container beside the
 * server), browsers drop every request that waits for a connection, although the server can be reached.
 */
const PAUSES_MS = [200, 1_000];

/** Calls `read` up to three times until it succeeds. Use it only for reads. @throws what the last call threw. */
export async function retryRead<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await read();
    } catch (error) {
      if (signal?.aborted) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return read();
}
