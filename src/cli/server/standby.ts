import type { Client } from "./client.ts";

/**
 * Warns, where work is started or followed, that a server on a copied data folder does no work until it is activated.
 */
export async function warnOfStandby(client: Client): Promise<void> {
  // Only a hint: if the status cannot be read, the command's own request reports what is wrong.
  const status = await client.call("GET", "/v1/status").catch(() => undefined);
  if (status?.standby)
    console.error(
      `skep: ${client.url} stands by, since its data is a copy of another server's. No agent works until the original is stopped and you run: skep activate`,
    );
}
