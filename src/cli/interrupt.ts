/** Ctrl-C while a run is followed. */
import type { Client } from "./server/client.ts";

export interface Interrupt {
  /** Aborts the following. */
  readonly signal: AbortSignal;
  /** Whether somebody asked to stop. */
  readonly asked: boolean;
  done(): void;
}

/** As shells have it for a program that was interrupted. */
export const INTERRUPTED = 130;

/**
 * On another's server the first Ctrl-C only leaves: the run continues. On a server of this process's own, which ends with
 * it, the run is cancelled and its end is waited for; a second Ctrl-C leaves at once.
 */
export function onInterrupt(client: Client, runId: string, ownServer: boolean): Interrupt {
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
    signal: abort.signal,
    get asked() {
      return asked;
    },
    done() {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, handle);
    },
  };
}
