/** Ctrl-C while a run is followed. */
import type { Client } from "./server/client.ts";

/** As shells have it for a program that was interrupted. */
export const INTERRUPTED = 130;

/** The code of the problem that Ctrl-C at a question throws; the command then exits with `INTERRUPTED`. */
export const INTERRUPTED_CODE = "interrupted";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Has `act` called at Ctrl-C, and when the process is asked to end. @returns what forgets it. */
export function listenForInterrupt(act: () => void, { once = false } = {}): () => void {
  for (const name of SIGNALS) process[once ? "once" : "on"](name, act);
  return () => {
    for (const name of SIGNALS) process.off(name, act);
  };
}

/** What the first Ctrl-C aborts; the next one ends the process. */
export function stopAtInterrupt() {
  const stop = new AbortController();
  return { signal: stop.signal, done: listenForInterrupt(() => stop.abort(), { once: true }) };
}

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
  const done = listenForInterrupt(handle);
  return {
    /** Stops following. */
    signal: abort.signal,
    /** Whether somebody asked to stop. */
    get asked(): boolean {
      return asked;
    },
    done,
  };
}

/** The first Ctrl-C leaves, with those words: what the server does goes on there. */
export function leaving(words: string): { done(): void } {
  const leave = () => {
    console.error(words);
    process.exit(INTERRUPTED);
  };
  return { done: listenForInterrupt(leave, { once: true }) };
}
