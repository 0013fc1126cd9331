/** Handles Ctrl-C while a run is followed. */
import type { Client } from "./server/client.ts";

/** Exit code of an interrupted program, as in shells: 128 + SIGINT. */
export const INTERRUPTED = 130;

/** The code of the problem that Ctrl-C at a question throws; the command then exits with `INTERRUPTED`. */
export const INTERRUPTED_CODE = "interrupted";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Calls `act` at Ctrl-C and when the process is asked to end. @returns a function that stops listening. */
export function listenForInterrupt(act: () => void, { once = false } = {}): () => void {
  for (const name of SIGNALS) process[once ? "once" : "on"](name, act);
  return () => {
    for (const name of SIGNALS) process.off(name, act);
  };
}

/** @returns a signal that the first Ctrl-C aborts; the second one ends the process. */
export function stopAtInterrupt() {
  const stop = new AbortController();
  return { signal: stop.signal, stopListening: listenForInterrupt(() => stop.abort(), { once: true }) };
}

/**
 * Handles Ctrl-C for a followed run. If the server runs by itself, the first Ctrl-C only leaves, and the run continues.
 * If the server is this command's own and ends with it, the first Ctrl-C cancels the run and waits for its end; a
 * second one leaves at once.
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
  const stopListening = listenForInterrupt(handle);
  return {
    /** Aborts when the command should stop following. */
    signal: abort.signal,
    /** Whether Ctrl-C was pressed. */
    get asked(): boolean {
      return asked;
    },
    stopListening,
  };
}

/** Makes the first Ctrl-C print these words and leave; the work continues on the server. */
export function leaveAtInterrupt(words: string): { stopListening(): void } {
  const leave = () => {
    console.error(words);
    process.exit(INTERRUPTED);
  };
  return { stopListening: listenForInterrupt(leave, { once: true }) };
}
