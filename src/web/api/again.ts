/**
 * Reading once more. A network interface that comes or goes (Wi-Fi, a VPN, a container beside the server) makes a browser
 * drop every request that waits for a connection, although the server is there.
 */
const PAUSES_MS = [200, 1_000];

/** Calls `read` up to three times until it succeeds. Only for what changes nothing. @throws what the last call threw. */
export async function again<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
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
