/** Ctrl-C while a run is followed. */
import type { Client } from "./server/client.ts";

/** As shells have it for a program that was interrupted. */
export const INTERRUPTED = 130;

/**
 * On a server that runs by itself the first Ctrl-C only leaves: the run continues. On this process's own server, which ends
 * with it, the run is cancelled and awaited; a second Ctrl-C leaves at once.
 */
export function onInterrupt(client: Client, runId: string, ownServer: boolean) {
  const abort = new AbortController();
  let asked = false;
  const handle = () => {
    if (asked) process.exit(INTERRUPTED);
    asked = true;
    if (!ownServer) return abort.abort();
    console.error("\nCancelling the run; again to leave at once.");
    client.call("POST", `/v1/runs/${runId}/cancel`).catch(() => abort.abort());
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, handle);
  return {
    /** Stops following. */
    signal: abort.signal,
    /** Whether somebody asked to stop. */
    get asked(): boolean {
      return asked;
    },
    done(): void {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, handle);
    },
  };
}

/** The first Ctrl-C leaves, with those words: what the server does goes on there. */
export function leaving(words: string): { done(): void } {
  const leave = () => {
    console.error(words);
    process.exit(INTERRUPTED);
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, leave);
  return {
    done() {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, leave);
    },
  };
}
